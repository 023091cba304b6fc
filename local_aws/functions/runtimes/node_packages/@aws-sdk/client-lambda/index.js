// The parts of @aws-sdk/client-lambda that CDK's own handlers use.
const { call, pause } = require("../../aws_call");

const path = (name) => `/2015-03-31/functions/${encodeURIComponent(name)}`;

exports.Lambda = class Lambda {
  async invoke({ FunctionName, Payload }) {
    const reply = await call("lambda", { method: "POST", path: `${path(FunctionName)}/invocations`, body: Payload });
    return { StatusCode: reply.status, FunctionError: reply.headers["x-amz-function-error"], Payload: new Uint8Array(reply.body) };
  }

  async getFunction({ FunctionName }) {
    return JSON.parse((await call("lambda", { method: "GET", path: path(FunctionName) })).body.toString());
  }
};

exports.waitUntilFunctionActiveV2 = async function ({ client, maxWaitTime }, input) {
  const end = Date.now() + maxWaitTime * 1000;
  while ((await client.getFunction(input)).Configuration.State !== "Active") {
    if (Date.now() > end) throw Object.assign(new Error("the function is not active"), { name: "TimeoutError" });
    await pause(1000);
  }
};
