"""What is in a motion file, and how do I get it into another format?

Reads a BVH, AMC, NPZ, GLB or USD file (a demo walk, if none is given), says what was understood of it, and writes it in
three other formats.

    python examples/01_read_and_convert.py [motion.bvh] [--out FOLDER]
"""

import argparse
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("motion", type=Path, nargs="?", help="file to read")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

if args.motion is None:
    args.motion = args.out / "walk_turn_90_left.bvh"
    cg.write_clip(args.motion, demo_clip("walk_turn_90_left"), overwrite=True)
    print(f"no file was given: made {args.motion} from the demo motion")

# Whatever the file's unit and axes are, a clip is in metres, y up, facing +z at rest.
clip = cg.read_clip(args.motion)
print(f"{clip.name}: {len(clip)} frames at {clip.fps:g} a second, {len(clip.skeleton)} joints")
for note in clip.source.notes:
    print(f"  {note.message}")

# Plain arrays: root_pos (F, 3) in metres, local_rot (F, J, 4) as quaternions wxyz.
way = clip.root_pos[-1] - clip.root_pos[0]
print(f"the hips travel {way[0]:+.2f} m along x and {way[2]:+.2f} m along z")
print(f"the highest joint is at most {clip.global_positions()[..., 1].max():.2f} m above the floor")
for joint, planted in zip(clip.skeleton.feet, cg.detect_contacts(clip).T, strict=True):
    print(f"{clip.skeleton.names[joint]} stands {planted.mean():.0%} of the time")

for suffix in (".glb", ".npz", ".csv"):
    file = args.out / f"{clip.name}{suffix}"
    cg.write_clip(file, clip, overwrite=True)
    print(f"wrote {file}")
