/**
 * The YAML editor (CodeMirror). It runs in a shadow root, where CodeMirror adds its styles as constructed style sheets. Elsewhere, it would
 * add `<style>` elements, which the page's Content Security Policy blocks.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';

export type Editor = {
  text(): string;
  setText(text: string): void;
  close(): void;
};

/** `label`: the accessible name. `onChange`: called for each change, including those made by `setText`. */
type EditorOptions = { text: string; isReadOnly: boolean; label: string; onChange(): void };

const THEME = EditorView.theme({
  '&': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    fontSize: '13px',
    maxHeight: '75vh',
    border: '1px solid var(--line)',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.45' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
});

/** Opens an editor in an element. Tab moves the focus out of the editor, so that keyboard users are not trapped. */
export function openEditor(element: HTMLElement, { text, isReadOnly, label, onChange }: EditorOptions): Editor {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const view = new EditorView({
    root,
    parent: root as unknown as Element,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        yaml(),
        indentUnit.of('  '),
        // this highlighting style's colors only suit light mode
        ...(isDark ? [] : [syntaxHighlighting(defaultHighlightStyle)]),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of(({ docChanged }) => docChanged && onChange()),
        THEME,
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText: (changed) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } }),
    close: () => view.destroy(),
  };
}
