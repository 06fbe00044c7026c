/** What a call is about. */
export type Subject = {
  namespace: string;
  pod: string;
  /** Name of the container; `undefined` if the call is about the pod. */
  container?: string;
};

/** Formats a pod's name with its namespace; `-` for calls about no pod, or about one that is not known. */
export function podText(subject: Subject | undefined): string {
  return subject === undefined ? '-' : `${subject.namespace}/${subject.pod}`;
}
