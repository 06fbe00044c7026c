/** Sets of completion indexes as ascending intervals, in the text format of a Job's status: `0,2-5,7`. */

export type IndexInterval = { first: number; last: number };

/** An immutable set of completion indexes. */
export class IndexSet {
  static readonly empty = new IndexSet([]);
  readonly #intervals: readonly IndexInterval[];

  private constructor(intervals: readonly IndexInterval[]) {
    this.#intervals = intervals;
  }

  /** Parses the text format. Drops indexes that are not less than `completions` and intervals that are not numeric. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const intervals = (text ?? '').split(',').flatMap((part): IndexInterval[] => {
      const numbers = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part);
      if (numbers === null) return [];
      const first = Number(numbers[1]);
      const last = Math.min(Number(numbers[2] ?? first), completions - 1);
      return first > last ? [] : [{ first, last }];
    });
    return new IndexSet(merged(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(merged([...indexes].map((index) => ({ first: index, last: index }))));
  }

  get size(): number {
    return this.#intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#intervals[middle]!.last < index) low = middle + 1;
      else high = middle;
    }
    const interval = this.#intervals[low];
    return interval !== undefined && interval.first <= index;
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(merged([...this.#intervals, ...other.#intervals]));
  }

  /** Returns the number of indexes that are in both this set and the other one. */
  overlap(other: IndexSet): number {
    let count = 0;
    for (let i = 0, j = 0; i < this.#intervals.length && j < other.#intervals.length; ) {
      const [ours, theirs] = [this.#intervals[i]!, other.#intervals[j]!];
      count += Math.max(0, Math.min(ours.last, theirs.last) - Math.max(ours.first, theirs.first) + 1);
      if (ours.last <= theirs.last) i++;
      else j++;
    }
    return count;
  }

  /** Returns the first `count` indexes below `end` that are not in the set. */
  firstMissing(count: number, end: number): number[] {
    const missing: number[] = [];
    let candidate = 0;
    for (const { first, last } of [...this.#intervals, { first: end, last: end }]) {
      for (; candidate < Math.min(first, end) && missing.length < count; candidate++) missing.push(candidate);
      candidate = Math.max(candidate, last + 1);
    }
    return missing;
  }

  /** Formats the set. As upstream does, an interval of two indexes is written as two separate indexes. */
  toString(): string {
    const part = ({ first, last }: IndexInterval) =>
      first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`;
    return this.#intervals.map(part).join(',');
  }
}

function merged(intervals: readonly IndexInterval[]): IndexInterval[] {
  const result: IndexInterval[] = [];
  for (const { first, last } of intervals.toSorted((a, b) => a.first - b.first)) {
    const previous = result.at(-1);
    if (previous === undefined || first > previous.last + 1) result.push({ first, last });
    else previous.last = Math.max(previous.last, last);
  }
  return result;
}
