"""The motion graph: plain data (model), its .mog file (store), and what makes it (build, connect, onto, report)."""
