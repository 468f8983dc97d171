// Builds the notebook's stage as one module into the Python package, which hands it to the widget.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  build: {
    outDir: here("../src/choreograph/notebook"),
    emptyOutDir: false, // there are the Python modules too
    copyPublicDir: false,
    target: "es2022",
    chunkSizeWarningLimit: 1500,
    modulePreload: false,
    rolldownOptions: {
      // Not as a library, whose spaces would be kept.
      input: here("src/notebook.ts"),
      preserveEntrySignatures: "strict",
      output: { format: "es", entryFileNames: "stage.js", codeSplitting: false },
    },
  },
});
