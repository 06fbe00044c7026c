/** Finds the differences between the pod templates of two revisions of a workload. Pure. */
import type { Container, PodSpec } from '@podwright/kube-api';

export type Template = { spec?: Partial<PodSpec> };

/** Returns descriptions of the changes, such as `the image of container web from "a" to "b"`; empty if there are none. */
export function templateChanges(before: Template, after: Template): string[] {
  const old = new Map(containersOf(before).map((container) => [container.name, container]));
  const changes = containersOf(after).flatMap((container) => {
    const earlier = old.get(container.name);
    old.delete(container.name);
    return earlier === undefined ? [`a new container ${container.name}`] : containerChanges(earlier, container);
  });
  const removed = [...old.keys()].map((name) => `container ${name} was removed`);
  const { containers: _, initContainers: __, ...rest } = after.spec ?? {};
  const fields = changedFields((before.spec ?? {}) as Fields, rest as Fields, ['containers', 'initContainers']);
  return [...changes, ...removed, ...fields.map((field) => `spec.${field}`)];
}

type Fields = Record<string, unknown>;

const containersOf = ({ spec = {} }: Template) => [...(spec.initContainers ?? []), ...(spec.containers ?? [])];

function containerChanges(before: Container, after: Container): string[] {
  const of = `of container ${after.name}`;
  const image = before.image === after.image ? [] : [`the image ${of} from "${before.image}" to "${after.image}"`];
  const values = (container: Container) => Object.fromEntries((container.env ?? []).map((one) => [one.name, one]));
  const variables = changedFields(values(before), values(after)).map((name) => `the variable ${name} ${of}`);
  const others = changedFields(before as Fields, after as Fields, ['image', 'env', 'name']);
  return [...image, ...variables, ...others.map((field) => `${field} ${of}`)];
}

function changedFields(before: Fields, after: Fields, except: readonly string[] = []): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(
    (name) => !except.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
}
