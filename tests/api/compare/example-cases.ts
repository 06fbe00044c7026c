/** Upstream's example objects, which set every field, mostly to invalid values: sent unchanged, and part by part within a valid object. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { graftedObjects } from './breaks.ts';
import type { Case } from './cases.ts';
import { copyOf, type Json } from './json.ts';
import { caseName } from './life-cycle-case.ts';
import { SAMPLES, type Sample } from './valid-objects.ts';

/**
 * Depth down to which parts of the example objects are sent: greater for pods than for other objects, some of which contain pod templates.
 */
const DEPTHS: Record<string, number> = { Pod: 7 };
const DEPTH = 4;

function exampleOf({ apiVersion, kind }: Json): Json {
  const prefix = apiVersion.includes('/') ? apiVersion.replace('/', '.') : `core.${apiVersion}`;
  const path = join(process.env.PODWRIGHT_KUBERNETES_DATA ?? '', `objects/${prefix}.${kind}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

export const exampleCases = (): Case[] =>
  SAMPLES.flatMap((sample) => {
    const example = exampleOf(sample.object);
    return example === undefined ? [] : [wholeExample(sample, example), parts(sample, example)];
  });

const wholeExample = (sample: Sample, example: Json): Case => ({
  name: caseName('example', sample),
  run: async (api) => {
    const { resource, object } = sample;
    const target = `${resource}?dryRun=All&fieldValidation=Strict`;
    await api.post(target, example);
    const named = copyOf(example);
    named.metadata = { ...object.metadata, name: `${object.metadata.name}-example` };
    await api.post(target, named);
    await api.post(target, { ...object, metadata: { ...example.metadata, ...named.metadata } });
  },
});

const parts = (sample: Sample, example: Json): Case => ({
  name: caseName('parts of the example', sample),
  run: async (api) => {
    const { resource, object } = sample;
    const named = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-part` } };
    const path = `${resource}?dryRun=All&fieldValidation=Strict`;
    const grafts = graftedObjects(named, example, DEPTHS[object.kind] ?? DEPTH);
    await api.sendAll(grafts.map(({ object: body }) => ({ method: 'POST', path, body })));
  },
});
