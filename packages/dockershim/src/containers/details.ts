import type { ContainerConfig, ImageSpec } from '@podwright/cri';
import * as z from 'zod';
import { criMarks, DETAILS_LABEL, type Marks } from '../labels/labels.ts';

const detailsSchema = z.object({
  /** Names of the client's labels and annotations: the Engine mixes those of the image in. */
  labels: z.array(z.string()),
  annotations: z.array(z.string()),
  /** The image in the words of the pod. */
  userImage: z.string().optional(),
});

type Details = z.infer<typeof detailsSchema>;

/** The value of the details label of a container. */
export function formatDetails({ labels, annotations, image }: ContainerConfig): string {
  const userImage = image?.userSpecifiedImage || undefined;
  const details = { labels: Object.keys(labels), annotations: Object.keys(annotations), userImage };
  return JSON.stringify(details satisfies Details);
}

/** What the label says; nothing for a container that another dockershim made, or whose label is broken. */
function parseDetails(dockerLabels: Record<string, string>): Details | undefined {
  const text = dockerLabels[DETAILS_LABEL];
  if (text === undefined) return undefined;
  try {
    return detailsSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Labels and annotations as the client gave them, without those of the image, and the image as the pod names it. */
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
