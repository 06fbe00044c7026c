import { type PathElement, sortedElements } from './path-element.ts';

export type Path = readonly PathElement[];

/**
 * A set of fields, stored as a tree (structured-merge-diff, fieldpath.Set). A field whose subfields are members need not be a member
 * itself. Sets are immutable. To save time, an operation whose result equals one of its operands returns that operand.
 */
export class FieldSet {
  readonly members: ReadonlySet<PathElement>;
  /** The members below each path element, as sets of paths relative to that element; none of these sets is empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  /** Takes ownership of `members` and `children`, which must not be modified afterwards. Empty children are dropped. */
  constructor(members: ReadonlySet<PathElement> = new Set(), children: Map<PathElement, FieldSet> = new Map()) {
    for (const [element, set] of children) if (set.isEmpty) children.delete(element);
    this.members = members;
    this.children = children;
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
  }

  below(element: PathElement): FieldSet {
    return this.children.get(element) ?? EMPTY;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty || other === this) return this;
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, set] of other.children) children.set(element, this.below(element).union(set));
    return new FieldSet(new Set([...this.members, ...other.members]), children);
  }

  intersection(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return EMPTY;
    const children = new Map<PathElement, FieldSet>();
    for (const [element, set] of this.children) {
      const below = other.children.get(element);
      if (below !== undefined) children.set(element, set.intersection(below));
    }
    return new FieldSet(
      filtered(this.members, (element) => other.members.has(element)),
      children,
    );
  }

  /** Returns the members that are not in the other set. A field is kept even if one of its ancestors is a member of the other set. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, (set, element) => set.difference(other.below(element)));
  }

  /** Like `difference`, but also removes everything below a member of the other set. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#without(other, (set, element) =>
      other.members.has(element) ? EMPTY : set.recursiveDifference(other.below(element)),
    );
  }

  /** Yields the members' paths in upstream's order: at each level, first the members and then the fields below them. */
  *paths(above: Path = []): Generator<Path> {
    for (const element of sortedElements(this.members)) yield [...above, element];
    for (const element of sortedElements(this.children.keys())) yield* this.below(element).paths([...above, element]);
  }

  /** Returns the set without the other set's members. `change` computes the new subset below each path element. */
  #without(other: FieldSet, change: (set: FieldSet, element: PathElement) => FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return this;
    const members = filtered(this.members, (element) => !other.members.has(element));
    const children = new Map<PathElement, FieldSet>();
    let isSame = members === this.members;
    for (const [element, set] of this.children) {
      const next = change(set, element);
      isSame &&= next === set;
      children.set(element, next);
    }
    return isSame ? this : new FieldSet(members, children);
  }
}

const EMPTY = new FieldSet();

/** Returns the members for which `isKept` is true, or `members` itself if it is true for all of them. */
function filtered(
  members: ReadonlySet<PathElement>,
  isKept: (element: PathElement) => boolean,
): ReadonlySet<PathElement> {
  const kept = new Set<PathElement>();
  for (const element of members) if (isKept(element)) kept.add(element);
  return kept.size === members.size ? members : kept;
}

/** Builds a field set from paths. Can only be used once. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  /** Adds a path. An empty path is ignored, because the object itself is never a member. */
  insert(path: Path): void {
    this.#insert(path, 0);
  }

  build(): FieldSet {
    const children = new Map<PathElement, FieldSet>();
    for (const [element, child] of this.#children) children.set(element, child.build());
    return new FieldSet(this.#members, children);
  }

  #insert(path: Path, from: number): void {
    const element = path[from];
    if (element === undefined) return;
    if (from === path.length - 1) this.#members.add(element);
    else this.#child(element).#insert(path, from + 1);
  }

  #child(element: PathElement): FieldSetBuilder {
    const child = this.#children.get(element) ?? new FieldSetBuilder();
    this.#children.set(element, child);
    return child;
  }
}
