import type { Logger } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { RuleLedger } from '../ledger/rule-ledger.ts';
import type { NetworkPolicy } from './objects.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import { policyRules, policySets } from './policy-rules.ts';

const TOO_LARGE = 'network policies need too many rules: their pods are isolated completely';

/** The known policies, pods and namespaces, and the rules computed from them. */
export class PolicyModel {
  readonly ledger = new RuleLedger(policySets());
  readonly #nodeName: string;
  readonly #logger: Logger;
  #refused = '';
  readonly #policies = new Map<string, NetworkPolicy>();
  readonly #pods = new Map<string, PodFacts>();
  readonly #namespaces = new Map<string, Record<string, string>>();
  #isMarked = false;
  #isolates = false;

  constructor(nodeName: string, logger: Logger) {
    this.#nodeName = nodeName;
    this.#logger = logger;
  }

  /** Whether a policy isolates any of this node's pods, as of the last `refresh`. */
  get isolates(): boolean {
    return this.#isolates;
  }

  /** Stores or removes a policy. Returns whether the rules might change as a result. */
  setPolicy(policy: NetworkPolicy, exists: boolean): boolean {
    if (exists) this.#policies.set(keyOf(policy), policy);
    else this.#policies.delete(keyOf(policy));
    return this.#mark();
  }

  /** Stores or removes a pod. Returns whether the rules might change as a result, which is false for most changes to a pod's status. */
  setPod(pod: Pod, exists: boolean): boolean {
    const key = keyOf(pod);
    const facts = exists ? podFacts(pod, this.#nodeName) : undefined;
    const isSame = JSON.stringify(facts) === JSON.stringify(this.#pods.get(key));
    if (facts === undefined) this.#pods.delete(key);
    else this.#pods.set(key, facts);
    return !isSame && this.#mark();
  }

  /** Stores or removes a namespace. Returns whether the rules might change as a result. */
  setNamespace({ metadata }: KubeObject, exists: boolean): boolean {
    const name = metadata.name ?? '';
    const isSame = JSON.stringify(metadata.labels ?? {}) === JSON.stringify(this.#namespaces.get(name));
    if (exists) this.#namespaces.set(name, metadata.labels ?? {});
    else this.#namespaces.delete(name);
    return !(exists && isSame) && this.#mark();
  }

  /** Recomputes the rules in the ledger if anything has changed. */
  refresh(): void {
    if (!this.#isMarked) return;
    const cluster = { pods: [...this.#pods.values()], namespaces: this.#namespaces };
    const rules = policyRules([...this.#policies.values()], cluster);
    this.ledger.replace({ key: 'policies', rank: '' }, rules);
    this.#reportRefused(rules.refused);
    this.#isMarked = false;
    this.#isolates = rules.chains.length > 0;
  }

  /** Logs which pods are isolated completely because their policies need too many rules, unless they were logged last time. */
  #reportRefused(refused: string[]): void {
    const text = refused.join();
    if (text !== '' && text !== this.#refused)
      this.#logger.warn({ refused: refused.slice(0, 10), count: refused.length }, TOO_LARGE);
    this.#refused = text;
  }

  #mark(): true {
    this.#isMarked = true;
    return true;
  }
}

const keyOf = ({ metadata }: { metadata: { namespace?: string; name?: string } }): string =>
  `${metadata.namespace}/${metadata.name}`;
