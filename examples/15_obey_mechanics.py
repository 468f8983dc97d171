"""How do I make a jump longer, shorter or turned, so that it still obeys mechanics?

After Safonova, Hodgins & Pollard (2004): a recorded jump is a sketch. Its first and last pose, its contacts and its
timing count, changed as asked; all in between is found anew, in the space of the examples, with the least effort. The
table is measured between the solver's nodes, on a grid eight times as fine.

    python examples/15_obey_mechanics.py [jump.bvh] [--recordings FOLDER] [--out FOLDER]
"""

import argparse
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.plots import write_plot
from choreograph.verbs.physics.plot import plot_physics

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("jump", type=Path, nargs="?", help="motion file with a jump; a demo jump if left out")
parser.add_argument(
    "--recordings", type=Path, help="folder with more jumps, whose space is searched; else the jump's own"
)
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

jump = demo_clip("jump") if args.jump is None else cg.read_clip(args.jump)
examples = [str(args.recordings)] if args.recordings else []
requests = {
    "farther": cg.PhysicsRequest(farther_m=0.3, like=examples),
    "back": cg.PhysicsRequest(farther_m=-0.2, like=examples),
    "turned": cg.PhysicsRequest(turn_deg=90.0, like=examples),
}

print("            goes  rises  turns    COM off  spin drifts   slip  residual      peak")
for name, request in requests.items():
    result = cg.physics(jump, request)
    way, rise, turn = (result.metrics[key].value for key in ("way", "rise", "turn"))
    checked = result.verification
    print(
        f"{name:<10}{way:4.2f} m {rise:4.2f} m {turn:5.0f}° {1000 * checked.com_off_m:7.2f} mm "
        f"{checked.spin_drift:10.1%} {1000 * checked.slip_m:5.1f} mm {checked.residual:6.2f} BW "
        f"{checked.peak_force:6.2f} BW"
    )
    for problem in result.problems:
        print(f"  {problem.text}")
    cg.write_clip(args.out / f"jump-{name}.bvh", result.clip, overwrite=True)
write_plot(args.out / "jump-turned.png", plot_physics(result), overwrite=True)
print(f"wrote jump-farther.bvh, jump-back.bvh, jump-turned.bvh and jump-turned.png to {args.out}")
