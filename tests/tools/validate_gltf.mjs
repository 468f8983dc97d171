// Runs Khronos' glTF validator over the files named on the command line; prints one JSON report per line.
import { readFile } from "node:fs/promises";
import validator from "gltf-validator";

for (const path of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(await readFile(path)), { maxIssues: 100 });
  console.log(JSON.stringify({ path, issues: report.issues, info: report.info }));
}
