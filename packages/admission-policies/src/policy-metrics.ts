import { Counter, Histogram, metricIn, type Registry } from '@podwright/base';

/** Bucket boundaries of upstream's histograms, in seconds. */
const SECONDS = [0.0000005, 0.001, 0.01, 0.1, 1];

/** How a binding enforced a validation. `allow`: the validation could not be evaluated, and the error was ignored. */
export type EnforcementAction = 'allow' | 'audit' | 'deny' | 'warn';

/** An evaluated expression of a policy. `message`: why it failed; `undefined` if it did not fail. */
export type Check = { policy: string; binding: string; message: string | undefined; seconds: number };

/** Policy metrics with upstream's names and labels (apiserver, plugin/policy/…/metrics). */
export class PolicyMetrics {
  readonly #registry: Registry | undefined;

  /** Counts nothing if `registry` is undefined. */
  constructor(registry: Registry | undefined) {
    this.#registry = registry;
  }

  /** Counts a validation enforced by a binding. */
  validated({ seconds, ...check }: Check, action: EnforcementAction): void {
    const labels = { ...labelsOf(check), enforcement_action: action };
    this.#observe('validating', labels, seconds);
  }

  /** Counts a successful or failed mutation. */
  mutated({ seconds, ...check }: Check): void {
    this.#observe('mutating', labelsOf(check), seconds);
  }

  #observe(type: 'validating' | 'mutating', labels: Record<string, string>, seconds: number): void {
    const registry = this.#registry;
    if (registry === undefined) return;
    const options = (name: string, help: string) => ({
      ...{ name: `apiserver_${type}_admission_policy_${name}`, help, registers: [registry] },
      labelNames: Object.keys(labels),
    });
    const total = options('check_total', 'Evaluated expressions of policies.');
    const duration = options('check_duration_seconds', 'Time to evaluate an expression, in seconds.');
    metricIn(registry, total.name, () => new Counter(total)).inc(labels);
    metricIn(registry, duration.name, () => new Histogram({ ...duration, buckets: SECONDS })).observe(labels, seconds);
  }
}

const labelsOf = ({ policy, binding, message }: Omit<Check, 'seconds'>): Record<string, string> => ({
  policy,
  policy_binding: binding,
  error_type: errorTypeOf(message),
});

/**
 * Returns the `error_type` label for an expression's error message. Derives it from the message's text, like upstream, and counts violated
 * validations as `invalid_error`.
 */
function errorTypeOf(message: string | undefined): string {
  if (message === undefined) return 'no_error';
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}
