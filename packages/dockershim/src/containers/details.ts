import type { ContainerConfig, ImageSpec } from '@podwright/cri';
import * as z from 'zod';
import { criMarks, DETAILS_LABEL, type Marks } from '../labels/labels.ts';

const detailsSchema = z.object({
  /** Keys of the client's labels and annotations: the Engine merges the image's labels into them. */
  labels: z.array(z.string()),
  annotations: z.array(z.string()),
  /** The image as the pod's manifest names it. */
  userImage: z.string().optional(),
});

type Details = z.infer<typeof detailsSchema>;

/** The value of the details label of a container. */
export function formatDetails({ labels, annotations, image }: ContainerConfig): string {
  const userImage = image?.userSpecifiedImage || undefined;
  const details = { labels: Object.keys(labels), annotations: Object.keys(annotations), userImage };
  return JSON.stringify(details satisfies Details);
}

/** The details in the label; `undefined` for a container of another dockershim, or if the label is malformed. */
function parseDetails(dockerLabels: Record<string, string>): Details | undefined {
  const text = dockerLabels[DETAILS_LABEL];
  if (text === undefined) return undefined;
  try {
    return detailsSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Labels and annotations as the client gave them, without those of the image, and the image as the pod's manifest names it. */
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
