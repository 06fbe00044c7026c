/** Loads the chunks of the bundle, which the build has converted to CommonJS, when they are first required. */
import type { Script as VmScript } from 'node:vm';

type Exports = Record<string, unknown>;
type Wrapper = (exports: Exports, require: (id: string) => unknown, module: { exports: Exports }) => void;

export type ChunkSources = {
  source: (name: string) => string;
  /** Returns the V8 code cache for a chunk; `undefined` if the chunk must be compiled from source. */
  code: (name: string) => Uint8Array | undefined;
  native: (name: string) => unknown;
  onCompiled?: (name: string, script: VmScript) => void;
};

/** Prefix of the imports that are replaced with native parts. */
export const NATIVE = 'native:';

export function chunkLoader({ source, code, native, onCompiled }: ChunkSources): (name: string) => Exports {
  const { Script, constants } = process.getBuiltinModule('node:vm');
  const loaded = new Map<string, { exports: Exports }>();
  const load = (name: string): Exports => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module); // before it runs, for chunks that require each other
    const script = new Script(`(function (exports, require, module) {${source(name)}\n})`, {
      filename: `podwright:${name}`,
      cachedData: code(name),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER, // for plugins, which are files
    });
    onCompiled?.(name, script);
    (script.runInThisContext() as Wrapper)(module.exports, requirePart, module);
    return module.exports;
  };
  const requirePart = (id: string): unknown => {
    if (id.startsWith('./')) return load(id.slice(2));
    if (id.startsWith(NATIVE)) return native(id.slice(NATIVE.length));
    const builtin = process.getBuiltinModule(id);
    if (builtin === undefined) throw new Error(`load ${id}: the executable does not contain it`);
    return builtin;
  };
  return load;
}
