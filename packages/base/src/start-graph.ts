import { orderGraph } from './order-graph.ts';
import { Undo, type UndoFailure } from './undo.ts';

/**
 * A component of a program. `start` receives only the components it requires, which have already started. As soon as it has acquired
 * something that must be released, it must add a step to `undo`.
 */
export type GraphPart<Parts, Name extends keyof Parts> = {
  readonly requires: readonly (keyof Parts & string)[];
  start(required: Parts, undo: Undo): Parts[Name] | Promise<Parts[Name]>;
};

/** A component for each name in `Parts`, which maps names to the types of the started components. */
export type GraphParts<Parts> = { readonly [Name in keyof Parts & string]: GraphPart<Parts, Name> };

/** The components of a started graph, and a function that stops them. */
export type StartedGraph<Parts> = {
  readonly parts: Parts;
  /** Stops the components, most recently started first. Failures are passed to `onUndoFailures`. */
  close(): Promise<void>;
};

/** The value of a component that is only a startup step: others can require it but receive nothing from it. */
export type Done = 'done';

/**
 * Returns functions for declaring a graph's components. The argument of a component's `start` is typed to contain exactly the components
 * listed in `requires`.
 */
export function partsOf<Parts>() {
  const part = <Name extends keyof Parts & string, Part>(
    requires: readonly Name[],
    start: (required: Pick<Parts, Name>, undo: Undo) => Part | Promise<Part>,
  ) => ({ requires, start });
  const step = <Name extends keyof Parts & string>(
    requires: readonly Name[],
    start: (required: Pick<Parts, Name>, undo: Undo) => void | Promise<void>,
  ) =>
    part(requires, async (required, undo): Promise<Done> => {
      await start(required, undo);
      return 'done';
    });
  return { part, step };
}

/**
 * Starts the components one at a time, each after those it requires and otherwise in the order listed. If one fails, those already started
 * are undone, newest first, and the promise rejects with the error. For errors in the graph itself, see `orderGraph`.
 */
export async function startGraph<Parts>(
  parts: GraphParts<Parts>,
  onUndoFailures: (failures: UndoFailure[]) => void,
): Promise<StartedGraph<Parts>> {
  const undo = new Undo();
  const close = async () => {
    const failures = await undo.run();
    if (failures.length > 0) onUndoFailures(failures);
  };
  const started: Partial<Parts> = {};
  try {
    for (const name of order(parts)) {
      const { requires, start } = parts[name];
      const required: Partial<Parts> = {};
      for (const one of requires) required[one] = started[one];
      started[name] = await start(required as Parts, undo);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { parts: started as Parts, close };
}

function order<Parts>(parts: GraphParts<Parts>): (keyof Parts & string)[] {
  const names = Object.keys(parts) as (keyof Parts & string)[];
  return orderGraph(names, {
    attempt: 'order the parts',
    nameOf: (name) => name,
    requirementsOf: (name) => parts[name].requires,
    meeting: (requirement) => names.filter((name) => name === requirement),
    isOptional: () => false,
  });
}
