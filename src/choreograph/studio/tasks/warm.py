"""Making ready: modules imported, kernels loaded, tables built, so that the first answer is as quick as the next."""

from __future__ import annotations

from choreograph.studio.context import WorkerContext
from choreograph.studio.worker import TaskChannel


def warm(shop: WorkerContext, graph_file: str | None, tell: TaskChannel) -> None:
    """Follow a short path and throw the motion away, if there is a graph; else import what following needs."""
    from choreograph.finishing.finish import finish
    from choreograph.finishing.foot_contacts import plant_speed
    from choreograph.synthesis.follow.measure import measure_path
    from choreograph.synthesis.follow.search import follow_path
    from choreograph.synthesis.path_shapes import named_path

    if graph_file is None or not len(shop.graph(graph_file).nodes):
        return
    path = named_path("line", length=2.0).smoothed(0.1)
    motion = finish(follow_path(shop.graph(graph_file), path, tables=shop.tables(graph_file)).walk).clip
    measure_path(motion, path)
    plant_speed(motion)
