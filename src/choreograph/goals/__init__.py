"""Goals: what a request asks of a motion, as models, as numbers for one body, and measured on the finished motion."""
