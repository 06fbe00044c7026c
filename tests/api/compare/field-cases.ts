/** Breaks each field of an object in several ways, in creates and updates. Nothing is stored: all requests are dry runs. */
import { brokenObjects } from './breaks.ts';
import type { Case } from './cases.ts';
import { copyOf, type Json, valueAt } from './json.ts';
import { caseName, fresh } from './life-cycle-case.ts';
import type { Sample } from './valid-objects.ts';

const MODES = ['Strict', 'Warn', 'Ignore'];

export const createCases = (sample: Sample): Case => ({
  name: caseName('create', sample),
  run: async (api) => {
    const { resource, object } = sample;
    const named = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-broken` } };
    const path = `${resource}?dryRun=All&fieldValidation=Strict`;
    await api.sendAll(brokenObjects(named).map(({ object: body }) => ({ method: 'POST', path, body })));
    for (const mode of MODES)
      await api.post(`${resource}?dryRun=All&fieldValidation=${mode}`, {
        ...named,
        spec: { ...named.spec, unknownField: 1 },
        other: [],
      });
  },
});

/** Metadata fields of a stored object that these cases leave unchanged. */
const METADATA = ['managedFields', 'creationTimestamp', 'uid', 'name', 'namespace'];

export const changeCases = (sample: Sample): Case => ({
  name: caseName('change', sample),
  run: async (api) => {
    const stored = await fresh(api, sample);
    const path = `${sample.resource}/${sample.object.metadata.name}`;
    const replacements = (target: string, objects: Json[]) =>
      api.sendAll(
        objects.map((body) => ({ method: 'PUT', path: `${target}?dryRun=All&fieldValidation=Strict`, body })),
      );
    await replacements(path, changedObjects(stored));
    const { status, body } = await api.send('GET', `${path}/status`, undefined, { quiet: true });
    if (status === 200)
      await replacements(
        `${path}/status`,
        changedObjects(body).filter((one) => differsOutsideSpec(one, body)),
      );
    await api.send('DELETE', path, { gracePeriodSeconds: 0 }, { quiet: true });
  },
});

function changedObjects(stored: Json): Json[] {
  const object = copyOf(stored);
  if (!object.metadata) return [];
  delete object.metadata.managedFields;
  return brokenObjects(object)
    .filter(({ what }) => !METADATA.some((name) => what.startsWith(`metadata.${name}`)))
    .map(({ object: broken }) => broken);
}

const differsOutsideSpec = (object: Json, other: Json): boolean =>
  JSON.stringify(valueAt(object, ['spec'])) === JSON.stringify(valueAt(other, ['spec']));
