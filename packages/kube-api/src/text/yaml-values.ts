import { isAlias, isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import { isMergeKey, keyName, type Report } from './yaml-bounds.ts';
import { plainValue } from './yaml-scalars.ts';

/**
 * Converts a document's nodes to plain values the way sigs.k8s.io/yaml converts YAML to JSON: keys become strings, and the last of several
 * duplicate keys applies, including merged ones (`<<`). Reports values that cannot be converted. The cost is bounded by the limits enforced
 * by `inspectDocument`.
 */
export class YamlValues {
  readonly #targets: ReadonlyMap<Node, Node>;
  readonly #report: Report;

  /** `targets` maps each YAML alias to its target node. */
  constructor(targets: ReadonlyMap<Node, Node>, report: Report) {
    this.#targets = targets;
    this.#report = report;
  }

  of(node: unknown): unknown {
    if (isAlias(node)) return this.#alias(node, node.source);
    if (isScalar(node))
      return node.type === 'PLAIN' && node.tag === undefined ? plainValue(node.source ?? '') : node.value;
    if (isSeq(node)) return node.items.map((item) => (isPair(item) ? this.#map([item]) : this.of(item)));
    return isMap(node) ? this.#map(node.items) : null;
  }

  #alias(node: Node, name: string): unknown {
    const target = this.#targets.get(node);
    if (target === undefined)
      this.#refuse(node, `unresolved alias *${name.slice(0, 60)}: its anchor must come before it`);
    return this.of(target);
  }

  #map(items: readonly unknown[]): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (const item of items) if (isPair(item)) this.#add(map, item);
    return map;
  }

  #add(map: Record<string, unknown>, { key, value }: { key: unknown; value: unknown }): void {
    if (isMergeKey(key)) return this.#merge(map, value);
    const name = keyName(key);
    if (name === undefined) this.#refuse(key, 'a key must be text, a number, true or false');
    else set(map, name, this.of(value));
  }

  /** Merges a map or a list of maps. Earlier maps in a list take precedence. */
  #merge(map: Record<string, unknown>, value: unknown): void {
    const merged = isSeq(value) ? value.items.toReversed() : [value];
    for (const part of merged) {
      const target = isAlias(part) ? this.#targets.get(part) : part;
      if (!isMap(target)) this.#refuse(part, '<< takes a map or a list of maps');
      else for (const [name, of] of Object.entries(this.#map(target.items))) set(map, name, of);
    }
  }

  #refuse(node: unknown, message: string): void {
    this.#report((node as Node | null)?.range?.[0] ?? 0, message);
  }
}

/** Sets a property, even if it is named `__proto__`. */
function set(map: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(map, name, { value, writable: true, enumerable: true, configurable: true });
}
