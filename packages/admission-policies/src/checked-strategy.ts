import { type ApiObject, type FieldError, STRATEGIES, type Strategy } from '@podwright/kube-kinds';

/** Returns an object's validation errors. `old`: the stored object before an update; undefined for a create. */
type Check = (object: ApiObject, old?: ApiObject) => readonly FieldError[];

/** Adds a check to the strategy of a built-in kind. `load` imports the check's code before the first write. */
export function checkedStrategy(resource: string, load: () => Promise<Check>): Strategy {
  const strategy = STRATEGIES[resource]!;
  let check: Check | undefined;
  return {
    ...strategy,
    load: async () => {
      check ??= await load();
    },
    validate: (object) => [...(strategy.validate?.(object) ?? []), ...check!(object)],
    validateUpdate: (object, old) => [...(strategy.validateUpdate?.(object, old) ?? []), ...check!(object, old)],
  };
}
