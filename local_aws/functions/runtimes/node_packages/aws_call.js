// Calls an AWS service with the SDK's default retries: three attempts, for throttles, server errors and lost connections.
// Replaces the parts of the SDK that Lambda's Node.js includes and package.json does not.
const crypto = require("crypto");
const http = require("http");

const ATTEMPTS = 3;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const hmac = (key, text) => crypto.createHmac("sha256", key).update(text).digest();
const sha256 = (data) => crypto.createHash("sha256").update(data).digest("hex");

// Returns the Signature Version 4 headers of a request without a query, over its host and date.
function signed(service, method, url, body) {
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token, AWS_REGION: region } = process.env;
  const moment = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = [moment.slice(0, 8), region, service, "aws4_request"];
  const path = url.pathname.split("/").map(encodeURIComponent).join("/");
  const canonical = [method, path, "", `host:${url.host}`, `x-amz-date:${moment}`, "", "host;x-amz-date", sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", moment, scope.join("/"), sha256(canonical)].join("\n");
  const signature = hmac(scope.reduce(hmac, `AWS4${secret}`), text).toString("hex");
  const credential = `Credential=${key}/${scope.join("/")}`;
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host;x-amz-date, Signature=${signature}`;
  return { authorization, "x-amz-date": moment, "x-amz-security-token": token };
}

function once(service, { method, path, headers = {}, body = "" }) {
  const url = new URL(path, process.env.AWS_ENDPOINT_URL);
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: { ...headers, ...signed(service, method, url, body) } }, (reply) => {
      const chunks = [];
      reply.on("data", (chunk) => chunks.push(chunk));
      reply.on("end", () => resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(chunks) }));
      reply.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

function failure(reply) {
  const body = JSON.parse(reply.body.toString() || "{}");
  const name = String(reply.headers["x-amzn-errortype"] || body.__type || "UnknownError").split(/[#:]/).filter(Boolean).pop();
  return Object.assign(new Error(body.message || body.Message || name), { name, passes: reply.status >= 500 || reply.status === 429 || /Throttl|TooManyRequests/.test(name) });
}

exports.call = async function call(service, request) {
  for (let attempt = 1; ; attempt++) {
    let error;
    try {
      const reply = await once(service, request);
      if (reply.status < 300) return reply;
      error = failure(reply);
    } catch (lost) {
      error = Object.assign(lost, { passes: true });
    }
    if (!error.passes || attempt === ATTEMPTS) throw error;
    await pause(100 * 2 ** attempt * Math.random());
  }
};
exports.pause = pause;
