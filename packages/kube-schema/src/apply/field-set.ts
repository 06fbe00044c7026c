import { type PathElement, sortedElements } from './path-element.ts';

export type Path = readonly PathElement[];

/**
 * A set of fields, stored as a tree (structured-merge-diff, fieldpath.Set). A field with members below it need not be a member itself.
 * Operations change no set. To save time, they return one of the given sets if the result is the same.
 */
export class FieldSet {
  readonly members: ReadonlySet<PathElement>;
  /** Subsets by the path element above them; none of them is empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  constructor(members: Iterable<PathElement> = [], children: Iterable<[PathElement, FieldSet]> = []) {
    this.members = new Set(members);
    this.children = new Map([...children].filter(([, set]) => !set.isEmpty));
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
  }

  below(element: PathElement): FieldSet {
    return this.children.get(element) ?? EMPTY;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, set] of other.children) children.set(element, set.union(this.below(element)));
    return new FieldSet([...this.members, ...other.members], children);
  }

  intersection(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return EMPTY;
    const members = [...this.members].filter((element) => other.members.has(element));
    return new FieldSet(
      members,
      this.#eachChild((set, element) => set.intersection(other.below(element))),
    );
  }

  /** Returns the members that are not in the other set. A field is kept even if a field above it is a member of the other set. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const members = [...this.members].filter((element) => !other.members.has(element));
    return new FieldSet(
      members,
      this.#eachChild((set, element) => set.difference(other.below(element))),
    );
  }

  /** Like `difference`, but also removes everything below a member of the other set. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const members = [...this.members].filter((element) => !other.members.has(element));
    const children = this.#eachChild((set, element) =>
      other.members.has(element) ? EMPTY : set.recursiveDifference(other.below(element)),
    );
    return new FieldSet(members, children);
  }

  /** Yields the members' paths in upstream's order: at each level, first the members and then the fields below them. */
  *paths(above: Path = []): Generator<Path> {
    for (const element of sortedElements(this.members)) yield [...above, element];
    for (const element of sortedElements(this.children.keys())) yield* this.below(element).paths([...above, element]);
  }

  *#eachChild(change: (set: FieldSet, element: PathElement) => FieldSet): Generator<[PathElement, FieldSet]> {
    for (const [element, set] of this.children) yield [element, change(set, element)];
  }
}

const EMPTY = new FieldSet();

/** Builds a field set from paths. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  /** Adds a path. An empty path is ignored, because the object itself is never a member. */
  insert(path: Path): void {
    this.#insert(path, 0);
  }

  build(): FieldSet {
    return new FieldSet(
      this.#members,
      [...this.#children].map(([element, child]) => [element, child.build()]),
    );
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
