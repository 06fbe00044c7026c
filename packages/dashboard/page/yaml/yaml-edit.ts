/** The steps of changing an object through its YAML: editing, reviewing, applying, and merging after a conflict. */
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { KubeObject } from '../api/objects.ts';
import { isConflict, messageOf, send } from '../api/request.ts';
import { type Editor, openEditor } from './editor.ts';
import { exactJson, parseExactly } from './exact-json.ts';
import { objectOf, withoutManagedFields, yamlOf } from './object-yaml.ts';
import { mergeThree } from './three-way.ts';

/** The object as read, and whether the user is allowed to update it. */
export type Opened = { base: KubeObject; canUpdate: boolean };

export type Step =
  | { kind: 'editing'; problem?: string; note?: string }
  /** Shows the differences before applying the edit. */
  | { kind: 'reviewing'; edited: KubeObject; problem?: string }
  | { kind: 'applying' }
  /**
   * The object was modified after it was read. `conflicts`: paths of fields that this modification and the edit set to different values.
   */
  | { kind: 'conflict'; base: KubeObject; theirs: KubeObject; merged: KubeObject; conflicts: string[] };

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

export type YamlEdit = {
  step: Step;
  /** The stored object's YAML, for comparison with the edit. */
  stored: string;
  /** Whether the text in the editor has been changed. */
  isChanged: boolean;
  /** The element that contains the editor. */
  place: RefObject<HTMLDivElement | null>;
  /** Parses the edited YAML and shows how it differs from the object. */
  review(): void;
  /** Goes back from reviewing to editing. */
  edit(): void;
  apply(edited: KubeObject): void;
  /** Continues with the edit merged into the stored object after a conflict. */
  merge(conflict: StepOf<'conflict'>): void;
  /** Reads the object again, discarding the edit. */
  reload(): void;
};

/** A hook that opens an editor and manages the state of the edit. `path`: the path of the object. */
export function useYamlEdit(path: string, { base: first, canUpdate }: Opened, label: string): YamlEdit {
  const [base, setBase] = useState(first);
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [step, setStep] = useState<Step>({ kind: 'editing' });
  const [isChanged, setChanged] = useState(false);
  const stored = useMemo(() => yamlOf(base), [base]);
  useEffect(() => {
    const onChange = () => setChanged(true);
    const created = openEditor(place.current!, { text: stored, label, isReadOnly: !canUpdate, onChange });
    editor.current = created;
    return () => created.close();
  }, []);
  const show = (object: KubeObject) => {
    setBase(object);
    editor.current?.setText(yamlOf(object));
    setChanged(false);
  };
  const review = () => setStep(reviewOf(editor.current!.text()));
  const apply = async (edited: KubeObject) => {
    setStep({ kind: 'applying' });
    try {
      const answer = await send(path, { method: 'PUT', json: exactJson(edited) });
      show(withoutManagedFields(parseExactly(await answer.text()) as KubeObject));
      setStep({ kind: 'editing', note: 'Applied.' });
    } catch (error) {
      const problem = messageOf(error);
      setStep(isConflict(error) ? await conflictOf(path, base, edited) : { kind: 'reviewing', edited, problem });
    }
  };
  const merge = ({ theirs, merged }: StepOf<'conflict'>) => {
    setBase(theirs);
    editor.current?.setText(yamlOf(merged));
    setChanged(true);
    setStep({ kind: 'reviewing', edited: merged });
  };
  const reload = async () => {
    try {
      show(await readObject(path));
      setStep({ kind: 'editing' });
    } catch (error) {
      setStep({ kind: 'editing', problem: `The object cannot be read: ${messageOf(error)}` });
    }
  };
  const edit = () => setStep({ kind: 'editing' });
  return { step, stored, isChanged, place, review, edit, apply, merge, reload };
}

/** Reads an object without its managed fields. */
export const readObject = async (path: string, signal?: AbortSignal): Promise<KubeObject> =>
  withoutManagedFields(parseExactly(await (await send(path, { signal })).text()) as KubeObject);

function reviewOf(text: string): Step {
  try {
    return { kind: 'reviewing', edited: objectOf(text) };
  } catch (error) {
    return { kind: 'editing', problem: `The YAML is not valid: ${messageOf(error)}` };
  }
}

/** Builds the step that follows a conflict: reads the object again and merges the edit into it. */
async function conflictOf(path: string, base: KubeObject, edited: KubeObject): Promise<Step> {
  try {
    const theirs = await readObject(path);
    const { value, conflicts } = mergeThree({ base, mine: edited, theirs });
    const merged = value as KubeObject;
    // not a conflict: the resource version always differs, and the update must use that of the stored object
    const { resourceVersion } = theirs.metadata;
    return {
      kind: 'conflict',
      base,
      theirs,
      conflicts: conflicts.filter((field) => field !== 'metadata.resourceVersion'),
      merged: { ...merged, metadata: { ...merged.metadata, resourceVersion } },
    };
  } catch (error) {
    return { kind: 'reviewing', edited, problem: messageOf(error) };
  }
}
