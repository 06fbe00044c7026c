/**
 * The type of a container created by a dockershim. The labels are those of upstream's dockershim, so that each can adopt the other's
 * containers.
 */
export const TYPE_LABEL = 'io.kubernetes.docker.type';
export const SANDBOX_TYPE = 'podsandbox';
export const CONTAINER_TYPE = 'container';
/** The ID of the sandbox a container belongs to. */
export const SANDBOX_ID_LABEL = 'io.kubernetes.sandbox.id';
/** The container's CRI log path. */
export const LOG_PATH_LABEL = 'io.kubernetes.container.logpath';
/** A label set by the kubelet. On a sandbox, the dockershim sets it to `POD`. */
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';
const ANNOTATION_PREFIX = 'annotation.';
/** A label used only by this dockershim. Its value is JSON, with state that has no field in Docker or in the labels above. */
export const DETAILS_LABEL = 'io.podwright.details';

const INTERNAL = new Set([TYPE_LABEL, SANDBOX_ID_LABEL, LOG_PATH_LABEL, DETAILS_LABEL]);

export type Marks = { labels: Record<string, string>; annotations: Record<string, string> };

/** Encodes CRI labels and annotations as Engine labels. Drops client labels that collide with an internal label or with an annotation. */
export function dockerLabels({ labels, annotations }: Marks, own: Record<string, string>): Record<string, string> {
  const prefixed = Object.entries(annotations).map(([key, value]) => [ANNOTATION_PREFIX + key, value]);
  const given = Object.entries(labels).filter(([key]) => !INTERNAL.has(key));
  return { ...Object.fromEntries(given), ...Object.fromEntries(prefixed), ...own };
}

/** Decodes CRI labels and annotations from Engine labels. */
export function criMarks(dockerLabels: Record<string, string>): Marks {
  const marks: Marks = { labels: {}, annotations: {} };
  const isSandbox = dockerLabels[TYPE_LABEL] === SANDBOX_TYPE;
  for (const [key, value] of Object.entries(dockerLabels)) {
    if (INTERNAL.has(key) || (isSandbox && key === CONTAINER_NAME_LABEL)) continue;
    if (key.startsWith(ANNOTATION_PREFIX)) marks.annotations[key.slice(ANNOTATION_PREFIX.length)] = value;
    else marks.labels[key] = value;
  }
  return marks;
}
