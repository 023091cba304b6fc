// Calls an AWS service as the SDK does by default: three attempts, again after throttles, server errors and lost connections.
// Stands in for the SDK's parts that Lambda's Node.js brings and package.json does not; signatures are not made, as the embedded AWS
// looks at their key alone.
const http = require("http");

const ATTEMPTS = 3;
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function once(service, { method, path, headers = {}, body = "" }) {
  const { AWS_ACCESS_KEY_ID: key, AWS_REGION: region, AWS_ENDPOINT_URL: endpoint } = process.env;
  const scope = `${key}/19700101/${region}/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, endpoint), { method, headers: { ...headers, authorization } }, (reply) => {
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
  const said = JSON.parse(reply.body.toString() || "{}");
  const name = String(reply.headers["x-amzn-errortype"] || said.__type || "UnknownError").split(/[#:]/).filter(Boolean).pop();
  return Object.assign(new Error(said.message || said.Message || name), { name, passes: reply.status >= 500 || reply.status === 429 || /Throttl|TooManyRequests/.test(name) });
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
