"""From a walk through the graph to motion: frames laid on the floor and blended, feet kept where they stand."""
