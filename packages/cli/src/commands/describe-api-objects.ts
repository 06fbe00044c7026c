/** `describe` for kinds available only with a Kubernetes API. */
import { PodwrightError } from '@podwright/base';
import { type ApiObject, describeObject, readRelated } from '@podwright/kube-verbs';
import { apiPort } from '../client/known-kinds.ts';
import { ObjectClient } from '../client/object-client.ts';
import type { ObjectSelection } from '../client/object-names.ts';
import { UnixHttp } from '../client/unix-http.ts';
import { printAs } from '../output/format.ts';
import { chosen, type DescribeOptions } from './describe-selection.ts';

/** Prints descriptions of the objects as text or, in the other output formats, the objects together with their events. */
export async function describeApiObjects(
  socketPath: string,
  selection: ObjectSelection,
  options: DescribeOptions,
): Promise<void> {
  const api = apiPort(new UnixHttp(socketPath));
  const { objects, missing } = await chosen(new ObjectClient(socketPath), selection, options);
  const described = await Promise.all(
    (objects as ApiObject[]).map(async (object) => ({ object, related: await readRelated(api, object) })),
  );
  const values = described.map(({ object, related: { events } }) => ({ object, events }));
  const now = Date.now();
  if (described.length > 0)
    await printAs(options.output, values.length === 1 ? values[0] : values, () =>
      described.map(({ object, related }) => describeObject(object, related, now)).join('\n\n\n'),
    );
  if (missing.length > 0) throw new PodwrightError('not_found', missing.join('\n'));
}
