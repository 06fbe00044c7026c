import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { directory, file, symlink } from './layer.fixture.ts';

/** `isOwn`: the layer being applied has an entry for this node or for something under it. */
type Node = { children?: Map<string, Node>; content: string; isOwn: boolean };

/**
 * Models the application of a layer strictly according to the image-spec (v1, layer.md): whiteouts delete files of lower layers; all other
 * entries are created in archive order.
 */
export class LayerModel {
  readonly #root: Node = { children: new Map(), content: '', isOwn: true };

  constructor(lower: FixtureEntry[]) {
    for (const entry of lower) this.apply(entry);
    disown(this.#root);
  }

  /** Whether the directory exists in the lower layers. If so, the image-spec defines what entries and whiteouts in it mean. */
  has(path: string[]): boolean {
    return this.#find(path)?.children !== undefined;
  }

  apply({ name, flag, body, link }: FixtureEntry): void {
    const path = String(name).split('/');
    const last = path.pop()!;
    if (last === '.wh..wh..opq') return hideLower(this.#find(path)!);
    if (last.startsWith('.wh.')) return whiteOut(this.#find(path)!, last.slice('.wh.'.length));
    let here = this.#root;
    for (const component of path) here = enter(here, component);
    if (flag === '5') enter(here, last);
    else here.children!.set(last, { content: flag === '2' ? `-> ${link}` : String(body), isOwn: true });
  }

  /**
   * Returns the modeled tree by path: directories have paths that end in `/` and the content '', symbolic links have the content `->
   * TARGET`.
   */
  contents(): Record<string, string> {
    return Object.fromEntries(listed(this.#root, ''));
  }

  #find(path: string[]): Node | undefined {
    return path.reduce<Node | undefined>((here, name) => here?.children?.get(name), this.#root);
  }
}

/** Returns the directory with this name in `parent`; creates it if needed, replacing a file or link of that name. */
function enter(parent: Node, name: string): Node {
  const existing = parent.children!.get(name);
  const node =
    existing?.children === undefined ? { children: new Map<string, Node>(), content: '', isOwn: true } : existing;
  node.isOwn = true;
  parent.children!.set(name, node);
  return node;
}

function whiteOut(parent: Node, name: string): void {
  const existing = parent.children!.get(name);
  if (existing?.isOwn) hideLower(existing);
  else parent.children!.delete(name);
}

function hideLower({ children = new Map() }: Node): void {
  for (const name of [...children.keys()]) whiteOut({ children, content: '', isOwn: true }, name);
}

function disown(node: Node): void {
  node.isOwn = false;
  for (const child of node.children?.values() ?? []) disown(child);
}

function listed({ children = new Map() }: Node, prefix: string): [string, string][] {
  return [...children].flatMap(([name, node]) => {
    const path = `${prefix}${name}`;
    return node.children === undefined
      ? [[path, node.content] as [string, string]]
      : [[`${path}/`, ''] as [string, string], ...listed(node, `${path}/`)];
  });
}

/** Returns a seeded generator of integers below `bound`. */
export function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0; // constants from Numerical Recipes; the high bits are the most random
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const NAMES = ['a', 'b', 'c'];

/**
 * Returns a random layer on top of `lower`. It uses only a few names, so that entries and whiteouts collide. No entry's parent is a link or
 * a file.
 */
export function randomLayer(lower: FixtureEntry[], seed: number): { entries: FixtureEntry[]; model: LayerModel } {
  const below = randomNumbers(seed);
  const model = new LayerModel(lower);
  const entries: FixtureEntry[] = [];
  while (entries.length < 12) {
    const path = Array.from({ length: below(3) }, () => NAMES[below(3)]!);
    if (!model.has(path)) continue;
    const at = (name: string) => [...path, name].join('/');
    const name = NAMES[below(3)]!;
    const kinds = [
      () => file(at(name), `own ${entries.length}`),
      () => directory(at(name)),
      () => symlink(at(name), 'nowhere'),
      () => file(at(`.wh.${name}`)),
      () => file(at(`.wh.${name}`)),
      () => file(at('.wh..wh..opq')),
    ];
    const entry = kinds[below(path.length === 0 ? 5 : 6)]!();
    entries.push(entry);
    model.apply(entry);
  }
  return { entries, model };
}
