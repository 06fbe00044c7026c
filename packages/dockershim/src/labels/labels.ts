/** What a container of ours is, by its label. These labels are those of all dockershims, so that one takes over from another. */
export const TYPE_LABEL = 'io.kubernetes.docker.type';
export const SANDBOX_TYPE = 'podsandbox';
export const CONTAINER_TYPE = 'container';
/** The id of the sandbox that a container is in. */
export const SANDBOX_ID_LABEL = 'io.kubernetes.sandbox.id';
/** Where the CRI client looks for a container's log. */
export const LOG_PATH_LABEL = 'io.kubernetes.container.logpath';
/** The kubelet's own; on a sandbox it is `POD`, and no client gave it. */
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';
const ANNOTATION_PREFIX = 'annotation.';
/** Of this dockershim alone: what neither Docker nor the labels above keep. A value is JSON. */
export const DETAILS_LABEL = 'io.podwright.details';

const INTERNAL = new Set([TYPE_LABEL, SANDBOX_ID_LABEL, LOG_PATH_LABEL, DETAILS_LABEL]);

export type Marks = { labels: Record<string, string>; annotations: Record<string, string> };

/** Labels of the Engine for the CRI's labels and annotations. A label of a client that is one of ours is left out, or gives way to an annotation. */
export function dockerLabels({ labels, annotations }: Marks, own: Record<string, string>): Record<string, string> {
  const prefixed = Object.entries(annotations).map(([key, value]) => [ANNOTATION_PREFIX + key, value]);
  const given = Object.entries(labels).filter(([key]) => !INTERNAL.has(key));
  return { ...Object.fromEntries(given), ...Object.fromEntries(prefixed), ...own };
}

/** The CRI's labels and annotations out of the Engine's. */
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
