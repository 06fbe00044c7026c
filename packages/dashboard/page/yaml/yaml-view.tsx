/** Shows and edits an object's YAML. Edits are reviewed before they are applied, and merged with concurrent changes by others. */
import { useEffect, useState } from 'preact/hooks';
import { isAllowed } from '../api/access.ts';
import type { Resource } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { Mark, Problem, Waiting } from '../widgets/marks.tsx';
import { DiffView } from './diff-view.tsx';
import { yamlOf } from './object-yaml.ts';
import { type Opened, readObject, type StepOf, useYamlEdit, type YamlEdit } from './yaml-edit.ts';

type YamlViewProps = { resource: Resource; namespace: string; name: string };

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
  const [base, canUpdate] = await Promise.all([readObject(path, signal), isAllowed(attributes, signal)]);
  return { base, canUpdate };
}

type EditingProps = { path: string; opened: Opened; label: string };

function Editing({ path, opened, label }: EditingProps) {
  const edit = useYamlEdit(path, opened, label);
  const { step } = edit;
  return (
    <section class="yaml" aria-label={label}>
      <Toolbar edit={edit} canUpdate={opened.canUpdate} />
      {step.kind === 'editing' && step.problem !== undefined ? <Problem what={step.problem} /> : null}
      {step.kind === 'reviewing' ? <Review edit={edit} step={step} /> : null}
      {step.kind === 'conflict' ? <Conflict edit={edit} step={step} /> : null}
      <div ref={edit.place} class="editor" hidden={step.kind === 'reviewing' || step.kind === 'conflict'} data-keys />
    </section>
  );
}

function Toolbar({ edit: { step, isChanged, review, reload }, canUpdate }: { edit: YamlEdit; canUpdate: boolean }) {
  return (
    <div class="list-head">
      {canUpdate ? (
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
  );
}

type ReviewProps = { edit: YamlEdit; step: StepOf<'reviewing'> };

function Review({ edit: { stored, apply, edit }, step: { edited, problem } }: ReviewProps) {
  const after = yamlOf(edited);
  return (
    <>
      {problem === undefined ? null : <Problem what="The changes were not applied">{problem}</Problem>}
      {after === stored ? <p>The edit changes nothing.</p> : <DiffView label="Changes" before={stored} after={after} />}
      <div class="list-head">
        <button type="button" class="main" disabled={after === stored} onClick={() => apply(edited)}>
          Apply
        </button>
        <button type="button" onClick={edit}>
          Continue editing
        </button>
      </div>
    </>
  );
}

type ConflictProps = { edit: YamlEdit; step: StepOf<'conflict'> };

function Conflict({ edit: { merge, reload }, step }: ConflictProps) {
  const { base, theirs, conflicts } = step;
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
        <button type="button" class="main" onClick={() => merge(step)}>
          Merge and review
        </button>
        <button type="button" onClick={reload}>
          Discard the edit
        </button>
      </div>
    </div>
  );
}
