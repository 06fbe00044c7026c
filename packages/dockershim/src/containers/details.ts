import type { ContainerConfig, ImageSpec } from '@podwright/cri';
import * as z from 'zod';
import { criMarks, DETAILS_LABEL, type Marks } from '../labels/labels.ts';

const detailsSchema = z.object({
  /** Keys of the client's labels and annotations, to distinguish them from the image's labels that the Engine merges in. */
  labels: z.array(z.string()),
  annotations: z.array(z.string()),
  /** The image as named in the pod's manifest. */
  userImage: z.string().optional(),
});

type Details = z.infer<typeof detailsSchema>;

/** Encodes the value of a container's details label. */
export function formatDetails({ labels, annotations, image }: ContainerConfig): string {
  const userImage = image?.userSpecifiedImage || undefined;
  const details = { labels: Object.keys(labels), annotations: Object.keys(annotations), userImage };
  return JSON.stringify(details satisfies Details);
}

/** Decodes the details label. Returns `undefined` if it is malformed or if the container was created by another dockershim. */
function parseDetails(dockerLabels: Record<string, string>): Details | undefined {
  const text = dockerLabels[DETAILS_LABEL];
  if (text === undefined) return undefined;
  try {
    return detailsSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Returns the client's labels and annotations, without labels merged in from the image, and the image as named in the pod's manifest. */
export function givenMarks(dockerLabels: Record<string, string>): Marks & Pick<ImageSpec, 'userSpecifiedImage'> {
  const { labels, annotations } = criMarks(dockerLabels);
  const details = parseDetails(dockerLabels);
  if (details === undefined) return { labels, annotations, userSpecifiedImage: '' };
  return {
    labels: only(labels, details.labels),
    annotations: only(annotations, details.annotations),
    userSpecifiedImage: details.userImage ?? '',
  };
}

function only(marks: Record<string, string>, names: string[]): Record<string, string> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(marks, name)).map((name) => [name, marks[name]!]));
}
