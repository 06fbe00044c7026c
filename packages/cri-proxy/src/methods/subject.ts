/** The pod or container a call is about. */
export type Subject = {
  namespace: string;
  pod: string;
  /** Name of the container; `undefined` if the call is about the pod. */
  container?: string;
};

/** Formats a pod as `NAMESPACE/NAME`, or `-` if the call is about no pod or its pod is unknown. */
export function podText(subject: Subject | undefined): string {
  return subject === undefined ? '-' : `${subject.namespace}/${subject.pod}`;
}
