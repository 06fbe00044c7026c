import { matchesPattern, matchesPod } from '../methods/pattern.ts';
import type { Subject } from '../methods/subject.ts';
import type { Rule, Script } from './script.ts';

/** The properties of a call that rules can match. */
export type RuledCall = { method: string; subject: Subject | undefined };

/** Selects the rule for each call. A given seed selects the same rules for the same calls. */
export class RuleChoice {
  readonly #states: { rule: Rule; seen: number; used: number }[];
  readonly #random: () => number;

  constructor({ rules }: Script, random: () => number) {
    this.#states = rules.map((rule) => ({ rule, seen: 0, used: 0 }));
    this.#random = random;
  }

  /** Returns the first matching rule whose `skip`, `count` and `probability` allow it to be applied. Updates the counters of the rules. */
  choose(call: RuledCall): Rule | undefined {
    for (const state of this.#states) {
      const { rule } = state;
      if (!matches(rule, call)) continue;
      state.seen++;
      if (state.seen <= rule.skip || state.used >= rule.count) continue;
      if (rule.probability < 1 && this.#random() >= rule.probability) continue;
      state.used++;
      return rule;
    }
    return undefined;
  }
}

function matches({ method, pod, container }: Rule, call: RuledCall): boolean {
  if (!matchesPattern(method, call.method)) return false;
  if (pod !== undefined && !matchesPod(pod, call.subject)) return false;
  const name = call.subject?.container;
  return container === undefined || (name !== undefined && matchesPattern(container, name));
}
