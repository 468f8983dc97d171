"""Choreograph in Blender: select a curve and an armature, press *Walk the curve*, and the armature has the action.

Install it with Edit > Preferences > Get Extensions > Install from Disk (zip this folder), then name the choreograph
command and a motion graph (.mog), or a studio that runs, in the panel: 3D view > N > Choreograph.
"""

import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np

from . import body, link

bl_info = {
    "name": "Choreograph",
    "author": "Choreograph",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "3D View > Sidebar > Choreograph",
    "description": "Draw a curve, and the selected armature walks along it",
    "category": "Animation",
}


class ChoreographPreferences(bpy.types.AddonPreferences):
    """Where Choreograph is."""

    bl_idname = __package__

    command: bpy.props.StringProperty(
        name="Command", default="choreograph", subtype="FILE_PATH",
        description="The choreograph command of the installed package, such as .venv/bin/choreograph",
    )  # fmt: skip

    def draw(self, context):
        """The one field there is."""
        self.layout.prop(self, "command")


class ChoreographSettings(bpy.types.PropertyGroup):
    """What the panel asks."""

    source: bpy.props.EnumProperty(
        name="From",
        items=[
            ("COMMAND", "Package", "The installed package, with a motion graph"),
            ("STUDIO", "Studio", "A studio that runs, with its own graph"),
        ],
    )
    graph: bpy.props.StringProperty(name="Graph", subtype="FILE_PATH", description="A motion graph (.mog)")
    address: bpy.props.StringProperty(name="Address", default="http://127.0.0.1:8765")
    token: bpy.props.StringProperty(name="Token", subtype="PASSWORD", description="Only for studios elsewhere")


def command_of(context):
    """The command that the preferences name."""
    addon = context.preferences.addons.get(__package__)
    return bpy.path.abspath(addon.preferences.command) if addon is not None else "choreograph"


class CHOREOGRAPH_OT_walk(bpy.types.Operator):
    """Walk along the selected curve, as an action on the active armature"""

    bl_idname = "choreograph.walk"
    bl_label = "Walk the curve"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 - Blender reads it so

    _timer = _steps = _folder = None

    @classmethod
    def poll(cls, context):
        """Whether an armature is active and a curve is selected."""
        return context.object is not None and context.object.type == "ARMATURE" and _curve(context) is not None

    def execute(self, context):
        """Ask and wait: for scripts, and where there is no window."""
        try:
            self._begin(context)
            self._steps.run()
            self._finish(context)
        except (link.Failed, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            self._clear(context)
        return {"FINISHED"}

    def invoke(self, context, event):
        """Ask, and go on with Blender while the search runs; Esc ends it."""
        try:
            self._begin(context)
        except (link.Failed, ValueError) as error:
            self._clear(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(link.POLL_S, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set("Choreograph is looking for motion; Esc ends it")
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """Look how far it has come."""
        if event.type == "ESC":
            self._steps.stop()
            self._clear(context)
            self.report({"INFO"}, "stopped; nothing has changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            if self._steps.poll():
                return {"RUNNING_MODAL"}
            self._finish(context)
        except (link.Failed, ValueError) as error:
            self._clear(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._clear(context)
        return {"FINISHED"}

    def _begin(self, context):
        asked = context.scene.choreograph
        self._target = context.object
        self._folder = Path(tempfile.mkdtemp(prefix="choreograph-"))
        self._problems = []
        points = body.floor_points(_curve(context), context.evaluated_depsgraph_get())
        body.write_skeleton(self._folder / "body.npz", self._target)
        command = command_of(context)
        if asked.source == "STUDIO":
            self._problems = link.Studio(asked.address, asked.token).follow(points, self._folder)
            same = _names(self._folder / "walk.npz") == _names(self._folder / "body.npz")
            if same:
                shutil.copy(self._folder / "walk.npz", self._folder / "motion.npz")
            self._steps = link.Steps([] if same else [link.retarget_command(command, self._folder)])
        else:
            if not asked.graph:
                raise ValueError("name a motion graph (.mog) in the panel; choreograph build makes one")
            link.write_path(self._folder / "path.csv", points)
            graph = bpy.path.abspath(asked.graph)
            self._steps = link.Steps(link.follow_commands(command, graph, self._folder))

    def _finish(self, context):
        with np.load(self._folder / "motion.npz") as motion:
            action = body.make_action(self._target, dict(motion), f"{_curve(context).name} walk", context.scene)
        for text in [*self._problems, *link.problems_of(self._folder)]:
            self.report({"WARNING"}, text)
        self.report({"INFO"}, f"{self._target.name} has the action {action.name}")

    def _clear(self, context):
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
            self._timer = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _names(file):
    with np.load(file) as motion:
        return [str(name) for name in motion["names"]]


def _curve(context):
    return next((one for one in context.selected_objects if one.type == "CURVE"), None)


class CHOREOGRAPH_PT_panel(bpy.types.Panel):
    """Choreograph in the sidebar."""

    bl_label = "Choreograph"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Choreograph"

    def draw(self, context):
        """Where motion comes from, what is selected, and the button."""
        layout, asked = self.layout, context.scene.choreograph
        layout.prop(asked, "source", expand=True)
        if asked.source == "COMMAND":
            layout.prop(asked, "graph")
        else:
            layout.prop(asked, "address")
            layout.prop(asked, "token")
        curve = _curve(context)
        armature = context.object if context.object is not None and context.object.type == "ARMATURE" else None
        layout.label(text=f"Curve: {curve.name}" if curve else "Select a curve", icon="CURVE_DATA")
        layout.label(text=f"Armature: {armature.name}" if armature else "then an armature", icon="ARMATURE_DATA")
        layout.operator("choreograph.walk", icon="PLAY")


CLASSES = (ChoreographPreferences, ChoreographSettings, CHOREOGRAPH_OT_walk, CHOREOGRAPH_PT_panel)


def register():
    """Add the panel."""
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Scene.choreograph = bpy.props.PointerProperty(type=ChoreographSettings)


def unregister():
    """Take it away."""
    del bpy.types.Scene.choreograph
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
