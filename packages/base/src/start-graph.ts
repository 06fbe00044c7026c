import { orderGraph } from './order-graph.ts';
import { Undo, type UndoFailure } from './undo.ts';

/**
 * One part of a program. `start` gets only the parts that it requires, and runs after they have started, so it can call them at
 * once. Right after `start` has acquired something that must be released, it adds a step to `undo`.
 */
export type GraphPart<Parts, Name extends keyof Parts> = {
  readonly requires: readonly (keyof Parts & string)[];
  start(required: Parts, undo: Undo): Parts[Name] | Promise<Parts[Name]>;
};

/** A part for each name in `Parts`, which maps names to the types of the started parts. */
export type GraphParts<Parts> = { readonly [Name in keyof Parts & string]: GraphPart<Parts, Name> };

/** The started parts, and how to end them. */
export type StartedGraph<Parts> = {
  readonly parts: Parts;
  /** Undoes the start, newest part first. Failures go to `onUndoFailures`. */
  close(): Promise<void>;
};

/** The value of a part that is only a step of the start. Other parts can require it, but get nothing from it. */
export type Done = 'done';

/**
 * Returns functions that declare the parts of a graph. In their `start` functions, the argument has the type of exactly the parts
 * named in `requires`.
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
 * Starts the parts one at a time, each after the parts it requires and otherwise in the order of the record. If a part fails, the
 * started parts are undone, newest first, and the promise rejects with the part's error. For errors in the graph itself, see
 * `orderGraph`.
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
