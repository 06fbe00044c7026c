import { type AdmissionAttributes, forbidden, type ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, booleanAt, numberAt, textAt, valueAt, withValue } from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf, type ObjectAttributes, rejected } from './admission-plugin.ts';

const CLASSES = 'priorityclasses.scheduling.k8s.io';
const PREEMPT = 'PreemptLowerPriority';

type Priority = { className: string; value: number; preemptionPolicy: string | undefined };

/** Values of the PriorityClasses that exist in every cluster. They apply even before the server has created the objects. */
const SYSTEM: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};
const NO_CLASS: Priority = { className: '', value: 0, preemptionPolicy: PREEMPT };

/** Sets each pod's priority from its PriorityClass or from the default class. */
export class PriorityAdmission implements AdmissionPlugin {
  readonly name = 'Priority';
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  mutate(attributes: ObjectAttributes): ApiObject {
    if (isWriteOf(attributes, 'pods', 'UPDATE')) return withOldPriority(attributes);
    return isWriteOf(attributes, 'pods', 'CREATE') ? this.#withPriority(attributes) : attributes.object;
  }

  /** Allows only one default class, and rejects deletion of the system classes. */
  validate(attributes: AdmissionAttributes): void {
    const { object, operation, name } = attributes;
    if (isWriteOf(attributes, CLASSES, 'DELETE') && Object.hasOwn(SYSTEM, name))
      throw forbidden(attributes.resource, name, 'this is a system priority class and cannot be deleted');
    if (!isWriteOf(attributes, CLASSES, 'CREATE', 'UPDATE') || !booleanAt(object, 'globalDefault')) return;
    const existing = this.#defaultClass();
    if (existing === undefined) return;
    if (operation === 'UPDATE' && existing.className === object?.metadata.name) return;
    throw rejected(
      attributes,
      `PriorityClass ${existing.className} is already marked as default. Only one default can exist`,
    );
  }

  #withPriority(attributes: ObjectAttributes): ApiObject {
    const { object } = attributes;
    const { className, value, preemptionPolicy } = this.#priorityOf(attributes);
    const given = numberAt(object, 'spec', 'priority');
    if (given !== undefined && given !== value)
      throw rejected(
        attributes,
        `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    const policy = textAt(object, 'spec', 'preemptionPolicy');
    if (preemptionPolicy !== undefined && policy !== '' && policy !== preemptionPolicy)
      throw rejected(
        attributes,
        `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
      );
    const named = className === '' ? object : withValue(object, ['spec', 'priorityClassName'], className);
    const ranked = withValue(named, ['spec', 'priority'], value);
    return preemptionPolicy === undefined ? ranked : withValue(ranked, ['spec', 'preemptionPolicy'], preemptionPolicy);
  }

  #priorityOf(attributes: ObjectAttributes): Priority {
    const name = textAt(attributes.object, 'spec', 'priorityClassName');
    if (name === '') return this.#defaultClass() ?? NO_CLASS;
    const found = this.#store.get({ resource: CLASSES, namespace: '', name })?.decode();
    if (found !== undefined) return priorityOf(found);
    const value = Object.hasOwn(SYSTEM, name) ? SYSTEM[name] : undefined;
    if (value === undefined) throw rejected(attributes, `no PriorityClass with name ${name} was found`);
    return { className: name, value, preemptionPolicy: PREEMPT };
  }

  /** Returns the default PriorityClass. If a race created several default classes, returns the one with the lowest value. */
  #defaultClass(): Priority | undefined {
    const classes = this.#store.list(CLASSES).objects.map((object) => object.decode());
    const defaults = classes.filter((one) => booleanAt(one, 'globalDefault')).map(priorityOf);
    return defaults.sort((a, b) => a.value - b.value)[0];
  }
}

const priorityOf = (object: ApiObject): Priority => ({
  className: object.metadata.name ?? '',
  value: numberAt(object, 'value') ?? 0,
  preemptionPolicy: textAt(object, 'preemptionPolicy') || undefined,
});

/** Returns the updated pod with the stored pod's priority and preemption policy if the update omits them. */
function withOldPriority({ object, oldObject }: ObjectAttributes): ApiObject {
  return ['priority', 'preemptionPolicy'].reduce((pod, field) => {
    const old = valueAt(oldObject, 'spec', field);
    return old === undefined || valueAt(pod, 'spec', field) !== undefined ? pod : withValue(pod, ['spec', field], old);
  }, object);
}
