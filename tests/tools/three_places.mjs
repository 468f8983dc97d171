// Where three.js has the joints of a motion file: node three_places.mjs FILE SECONDS… prints {name: [[x, y, z], …]}.
import { readFileSync } from "node:fs";
import { AnimationMixer, LoopOnce, Vector3 } from "three";
import { BVHLoader } from "three/examples/jsm/loaders/BVHLoader.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";

globalThis.self = globalThis; // as in a browser
const [file, ...times] = process.argv.slice(2);
const data = readFileSync(file);
let top, clip;
if (file.endsWith(".bvh")) {
  const read = new BVHLoader().parse(data.toString("utf8"));
  [top, clip] = [read.skeleton.bones[0], read.clip];
} else {
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const read = await new GLTFLoader().parseAsync(bytes, "");
  [top, clip] = [read.scene, read.animations[0]];
}
const mixer = new AnimationMixer(top);
const action = mixer.clipAction(clip);
action.setLoop(LoopOnce, 1);
action.clampWhenFinished = true;
action.play();
const found = {};
for (const time of times) {
  mixer.setTime(Number(time));
  top.updateMatrixWorld(true);
  top.traverse((one) => {
    if (one.isBone) (found[one.name] ??= []).push(new Vector3().setFromMatrixPosition(one.matrixWorld).toArray());
  });
}
console.log(JSON.stringify(found));
