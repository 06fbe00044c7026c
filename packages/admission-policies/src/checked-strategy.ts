import { type ApiObject, type FieldError, STRATEGIES, type Strategy } from '@podwright/kube-kinds';

/** Returns the errors of an object. `old`: the object before an update. */
type Check = (object: ApiObject, old?: ApiObject) => readonly FieldError[];

/** Returns the strategy of a built-in kind with one more check. `load` imports the code of the check before the first write. */
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
