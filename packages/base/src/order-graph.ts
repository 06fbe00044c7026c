import { PodwrightError } from './errors.ts';

/** Describes the nodes of a graph to `orderGraph`. */
export type GraphReading<Node> = {
  /** What is being attempted, as the prefix of error messages, such as `order plugins`. */
  attempt: string;
  nameOf: (node: Node) => string;
  requirementsOf: (node: Node) => readonly string[];
  /** Returns the nodes that satisfy a requirement; the list can be empty. */
  meeting: (requirement: string) => readonly Node[];
  isOptional: (requirement: string) => boolean;
};

/**
 * Sorts nodes topologically: each one comes after all nodes it requires, otherwise in the given order. Throws `invalid_argument` for
 * duplicate names, unsatisfied requirements and dependency cycles; for the latter two, the message shows the chain of requirements.
 */
export function orderGraph<Node>(nodes: readonly Node[], reading: GraphReading<Node>): Node[] {
  const { nameOf, requirementsOf, meeting, isOptional } = reading;
  checkUnique(nodes, reading);
  const ordered = new Set<Node>();
  const visit = (node: Node, path: Node[]) => {
    if (ordered.has(node)) return;
    if (path.includes(node)) throw cycle([...path.slice(path.indexOf(node)), node], reading);
    for (const requirement of requirementsOf(node)) {
      const required = meeting(requirement);
      if (required.length === 0 && !isOptional(requirement))
        throw missing([...path, node].map(nameOf), requirement, { nodes, reading });
      for (const next of required) visit(next, [...path, node]);
    }
    ordered.add(node);
  };
  for (const node of nodes) visit(node, []);
  return [...ordered];
}

function checkUnique<Node>(nodes: readonly Node[], { attempt, nameOf }: GraphReading<Node>): void {
  const names = new Set<string>();
  for (const name of nodes.map(nameOf)) {
    if (names.has(name))
      throw new PodwrightError('invalid_argument', `${attempt}: there are two ${name}; give one another id`);
    names.add(name);
  }
}

function cycle<Node>(path: Node[], { attempt, nameOf }: GraphReading<Node>): PodwrightError {
  const names = path.map(nameOf).join(' → ');
  return new PodwrightError('invalid_argument', `${attempt}: they require each other in a cycle: ${names}`);
}

/** Builds the error for an unsatisfied requirement. Its hint lists similar nodes: those with the same name up to the slash. */
function missing<Node>(
  path: string[],
  requirement: string,
  { nodes, reading }: { nodes: readonly Node[]; reading: GraphReading<Node> },
): PodwrightError {
  const { attempt, nameOf } = reading;
  const group = requirement.slice(0, requirement.indexOf('/') + 1);
  const alike = nodes.map(nameOf).filter((name) => name.startsWith(group));
  const hint = alike.length === 0 ? '' : `; there is ${alike.join(', ')}`;
  const names = [...path, requirement].join(' → ');
  return new PodwrightError('invalid_argument', `${attempt}: ${names}: there is no ${requirement}${hint}`);
}
