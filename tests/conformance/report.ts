import { readFileSync } from 'node:fs';

/** A spec that did not pass, with its message. */
export type SpecOutcome = { name: string; why: string };

export type Totals = { passed: number; failed: SpecOutcome[]; skipped: SpecOutcome[] };

/** The fields used from Ginkgo's JSON report. */
type SpecReport = {
  ContainerHierarchyTexts: string[] | null;
  LeafNodeText: string;
  LeafNodeType: string;
  State: string;
  Failure?: { Message?: string };
};

const MAX_WHY = 300;

/** Reads Ginkgo's JSON report, ignoring critest's benchmarks, which validation never selects. */
export function readReport(file: string): Totals {
  const [suite] = JSON.parse(readFileSync(file, 'utf8')) as { SpecReports: SpecReport[] }[];
  const specs = (suite?.SpecReports ?? []).filter(
    (spec) => spec.LeafNodeType === 'It' && !/benchmark/.test(nameOf(spec)),
  );
  const those = (wanted: (state: string) => boolean) => specs.filter(({ State }) => wanted(State)).map(outcomeOf);
  return {
    passed: those((state) => state === 'passed').length,
    failed: those((state) => state !== 'passed' && !NOT_RUN.has(state)),
    skipped: those((state) => NOT_RUN.has(state)),
  };
}

const NOT_RUN = new Set(['skipped', 'pending']);

function nameOf({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ').replace('[k8s.io] ', '');
}

function outcomeOf(spec: SpecReport): SpecOutcome {
  const why = spec.Failure?.Message?.replaceAll(/\s+/g, ' ').slice(0, MAX_WHY) ?? '';
  return { name: nameOf(spec), why: why === '' ? 'excluded by --skip or --ginkgo.focus' : why };
}
