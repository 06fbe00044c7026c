/**
 * Shows and edits the YAML of an object. Changes are reviewed before they are applied, and merged with changes that others made meanwhile.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isAllowed } from '../api/access.ts';
import type { KubeObject, Resource } from '../api/objects.ts';
import { call, isConflict, messageOf } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { Mark, Problem, Waiting } from '../widgets/marks.tsx';
import { DiffView } from './diff-view.tsx';
import { type Editor, openEditor } from './editor.ts';
import { objectOf, withoutManagedFields, yamlOf } from './object-yaml.ts';
import { mergeThree } from './three-way.ts';

type YamlViewProps = { resource: Resource; namespace: string; name: string };

type Step =
  | { kind: 'editing'; problem?: string; note?: string }
  /** The differences are shown before the edit is applied. */
  | { kind: 'reviewing'; edited: KubeObject; problem?: string }
  | { kind: 'applying' }
  /** The object was changed after it had been read. `conflicts` are paths of fields that both sides have changed. */
  | { kind: 'conflict'; base: KubeObject; theirs: KubeObject; merged: KubeObject; conflicts: string[] };

type Opened = { base: KubeObject; canUpdate: boolean };

export function YamlView(props: YamlViewProps) {
  const path = pathOf(props.resource, props);
  const [opened, setOpened] = useState<Opened | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  useEffect(() => {
    const abort = new AbortController();
    open(props, abort.signal).then(setOpened, (error: unknown) => abort.signal.aborted || setProblem(messageOf(error)));
    return () => abort.abort();
  }, [path]);
  if (problem !== undefined) return <Problem what={`${props.name} cannot be read`}>{problem}</Problem>;
  if (opened === undefined) return <Waiting what={`Reading ${props.name}`} />;
  return <Editing path={path} opened={opened} label={`YAML of ${props.name}`} />;
}

async function open({ resource, namespace, name }: YamlViewProps, signal: AbortSignal): Promise<Opened> {
  const path = pathOf(resource, { namespace, name });
  const attributes = { verb: 'update', group: resource.group, resource: resource.plural, namespace, name };
  const [base, canUpdate] = await Promise.all([read(path, signal), isAllowed(attributes, signal)]);
  return { base, canUpdate };
}

const read = async (path: string, signal?: AbortSignal): Promise<KubeObject> =>
  withoutManagedFields(await call<KubeObject>(path, { signal }));

type EditingProps = { path: string; opened: Opened; label: string };

function Editing({ path, opened, label }: EditingProps) {
  const [base, setBase] = useState(opened.base);
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [step, setStep] = useState<Step>({ kind: 'editing' });
  const [isChanged, setChanged] = useState(false);
  const text = useMemo(() => yamlOf(base), [base]);
  useEffect(() => {
    const created = openEditor(place.current!, {
      text,
      label,
      isReadOnly: !opened.canUpdate,
      onChange: () => setChanged(true),
    });
    editor.current = created;
    return () => created.close();
  }, []);
  const show = (object: KubeObject) => {
    editor.current?.setText(yamlOf(object));
    setChanged(false);
  };
  const review = () => {
    try {
      setStep({ kind: 'reviewing', edited: objectOf(editor.current!.text()) });
    } catch (error) {
      setStep({ kind: 'editing', problem: messageOf(error) });
    }
  };
  const apply = async (edited: KubeObject) => {
    setStep({ kind: 'applying' });
    try {
      const applied = withoutManagedFields(await call<KubeObject>(path, { method: 'PUT', body: edited }));
      setBase(applied);
      show(applied);
      setStep({ kind: 'editing', note: 'Applied.' });
    } catch (error) {
      setStep(
        isConflict(error)
          ? await conflictOf(path, base, edited)
          : { kind: 'reviewing', edited, problem: messageOf(error) },
      );
    }
  };
  const reload = async () => {
    try {
      const present = await read(path);
      setBase(present);
      show(present);
      setStep({ kind: 'editing' });
    } catch (error) {
      setStep({ kind: 'editing', problem: messageOf(error) });
    }
  };
  return (
    <section class="yaml" aria-label={label}>
      <div class="list-head">
        {opened.canUpdate ? (
          <button type="button" onClick={review} disabled={!isChanged || step.kind !== 'editing'}>
            Review changes
          </button>
        ) : (
          <span class="faint">The user may not change this object.</span>
        )}
        <button type="button" onClick={reload}>
          Reload
        </button>
        <span role="status">
          {step.kind === 'applying' ? (
            'Applying …'
          ) : step.kind === 'editing' && step.note !== undefined ? (
            <Mark tone="good">{step.note}</Mark>
          ) : (
            ''
          )}
        </span>
      </div>
      {step.kind === 'editing' && step.problem !== undefined ? (
        <Problem what="The YAML is not valid">{step.problem}</Problem>
      ) : null}
      {step.kind === 'reviewing' ? (
        <Review before={text} step={step} apply={apply} back={() => setStep({ kind: 'editing' })} />
      ) : null}
      {step.kind === 'conflict' ? (
        <Conflict
          step={step}
          take={(merged) => {
            setBase(step.theirs);
            editor.current?.setText(yamlOf(merged));
            setChanged(true);
            setStep({ kind: 'reviewing', edited: merged });
          }}
          drop={reload}
        />
      ) : null}
      <div ref={place} class="editor" hidden={step.kind === 'reviewing' || step.kind === 'conflict'} data-keys />
    </section>
  );
}

type Reviewing = Extract<Step, { kind: 'reviewing' }>;
type ReviewProps = { before: string; step: Reviewing; apply(edited: KubeObject): void; back(): void };

function Review({ before, step: { edited, problem }, apply, back }: ReviewProps) {
  const after = yamlOf(edited);
  return (
    <>
      {problem === undefined ? null : <Problem what="The changes were not applied">{problem}</Problem>}
      {after === before ? <p>The edit changes nothing.</p> : <DiffView label="Changes" before={before} after={after} />}
      <div class="list-head">
        <button type="button" class="main" disabled={after === before} onClick={() => apply(edited)}>
          Apply
        </button>
        <button type="button" onClick={back}>
          Continue editing
        </button>
      </div>
    </>
  );
}

/** Reads the object again, and merges the edit into it. */
async function conflictOf(path: string, base: KubeObject, edited: KubeObject): Promise<Step> {
  try {
    const theirs = await read(path);
    const { value, conflicts } = mergeThree({ base, mine: edited, theirs });
    const merged = value as KubeObject;
    // the resource version always differs, and must be that of the stored object
    const { resourceVersion } = theirs.metadata;
    const own = conflicts.filter((field) => field !== 'metadata.resourceVersion');
    return {
      kind: 'conflict',
      base,
      theirs,
      conflicts: own,
      merged: { ...merged, metadata: { ...merged.metadata, resourceVersion } },
    };
  } catch (error) {
    return { kind: 'reviewing', edited, problem: messageOf(error) };
  }
}

type ConflictProps = { step: Extract<Step, { kind: 'conflict' }>; take(merged: KubeObject): void; drop(): void };

function Conflict({ step: { base, theirs, merged, conflicts }, take, drop }: ConflictProps) {
  return (
    <div role="alert">
      <Problem what="The object has been changed since it was read. Changes of others" />
      <DiffView label="Changes of others" before={yamlOf(base)} after={yamlOf(theirs)} />
      <p>
        {conflicts.length === 0
          ? 'Your edit changes other fields, and can be merged with these changes.'
          : `Both edits change ${conflicts.join(', ')}. The merged object has your values.`}
      </p>
      <div class="list-head">
        <button type="button" class="main" onClick={() => take(merged)}>
          Merge and review
        </button>
        <button type="button" onClick={drop}>
          Discard the edit
        </button>
      </div>
    </div>
  );
}
