"""What is tested inside of Blender: `make blender` installs it (PyPI's bpy) in an environment of its own."""
