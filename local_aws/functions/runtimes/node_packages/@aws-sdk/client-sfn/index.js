// The parts of @aws-sdk/client-sfn that CDK's own handlers use.
const { call } = require("../../aws_call");

exports.SFN = class SFN {
  async startExecution(input) {
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AWSStepFunctions.StartExecution" };
    return JSON.parse((await call("states", { method: "POST", path: "/", headers, body: JSON.stringify(input) })).body.toString());
  }
};
