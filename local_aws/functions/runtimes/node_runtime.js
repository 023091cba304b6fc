// Runs a Node.js function's code in a separate process: a line with an event in, a line with the result out.
// Replaces the runtime inside Lambda's execution environment.
const fs = require("fs"), http = require("http"), https = require("https"), path = require("path"), readline = require("readline");

const take = (name) => { const value = process.env[name]; delete process.env[name]; return value; };
const resultFd = Number(take("_RESULT_FD"));
const answerPath = take("_ANSWER_PATH");
const endpoint = new URL(process.env.AWS_ENDPOINT_URL);
const root = process.env.LAMBDA_TASK_ROOT;

// On AWS the response URL of a custom resource is a presigned https URL, and CDK's own handlers keep only its host and path and
// use https on port 443. Here such requests go to the embedded AWS over http; all others are unchanged.
const request = https.request;
https.request = function (options, callback) {
  if (options && typeof options.path === "string" && options.path.startsWith(answerPath))
    return http.request({ ...options, hostname: endpoint.hostname, port: endpoint.port }, callback);
  return request.apply(this, arguments);
};

function failure(error, id) {
  const trace = (error.stack || "").split("\n");
  return { errorType: error.name || "Error", errorMessage: error.message || String(error), requestId: id, trace };
}

async function load() {
  const [file, name] = process.env._HANDLER.split(/\.(?=[^.]+$)/);
  const stem = path.join(root, file);
  let module;
  try {
    module = fs.existsSync(stem + ".mjs") ? await import(stem + ".mjs") : require(stem);
  } catch (error) {
    const missing = error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND";
    throw Object.assign(new Error(`Error: ${error.message}`), { name: missing ? "Runtime.ImportModuleError" : "Runtime.UserCodeSyntaxError" });
  }
  const handler = name.split(".").reduce((value, key) => value && value[key], module);
  if (typeof handler !== "function")
    throw Object.assign(new Error(`${process.env._HANDLER} is undefined or not exported`), { name: "Runtime.HandlerNotFound" });
  return handler;
}

function call(handler, event, context) {
  if (handler.length < 3) return handler(event, context);
  return new Promise((resolve, reject) => handler(event, context, (error, value) => error ? reject(error) : resolve(value)));
}

let handler;
async function invoke(invocation) {
  const env = process.env;
  const context = {
    functionName: env.AWS_LAMBDA_FUNCTION_NAME, functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE, logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME, awsRequestId: invocation.id, invokedFunctionArn: invocation.arn,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(invocation.deadline * 1000 - Date.now())),
  };
  try {
    handler = handler || await load();
    const value = await call(handler, invocation.event, context);
    return { payload: JSON.stringify(value === undefined ? null : value) };
  } catch (error) {
    const described = failure(error, invocation.id);
    console.error("ERROR", "Invoke Error", JSON.stringify(described));
    return { payload: JSON.stringify(described), failed: true };
  }
}

function answer(value) {
  fs.writeSync(1, "\x1e"); // the end of this invocation's log
  fs.writeSync(resultFd, JSON.stringify(value) + "\n");
}

const lines = readline.createInterface({ input: process.stdin });
lines.on("close", () => process.kill(-process.pid, "SIGKILL")); // the embedded AWS is gone
lines.on("line", async (line) => answer(await invoke(JSON.parse(line))));
process.on("uncaughtException", (error) => { console.error(error); process.exit(128); });
load().then((loaded) => { handler = loaded; }, () => {}).then(() => answer({ ready: true })); // an error is the invocation's answer
