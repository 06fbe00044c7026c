/** Completion scripts by shell. They call `podwright __complete`. */
export const SHELL_SCRIPTS = {
  bash: `# Completion for bash: source <(podwright completion bash)
_podwright() {
  local line="\${COMP_LINE:0:COMP_POINT}" program word about files='' breaks
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  program="\${words[0]/#\\~/$HOME}"
  type -P "$program" > /dev/null || program=podwright
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    case $word in
      :files) compopt -o default; files=yes ;;
      :directories) compopt -o dirnames ;;
      :nospace) compopt -o nospace ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("$program" __complete -- "\${words[@]:1}" 2> /dev/null)
  local cur="\${words[\${#words[@]}-1]}"
  # readline completes files only if there is nothing else, so add those here; only names that need no quoting
  if [[ -n $files && \${#COMPREPLY[@]} -gt 0 ]]; then
    while IFS= read -r word; do
      [[ -d $word ]] && word+=/
      [[ $word == *[^[:alnum:]_./@=+%,~-]* ]] || COMPREPLY+=("$word")
    done < <(compgen -f -- "$cur")
  fi
  # readline replaces only the part after the last word break (: or =), as in image names and --option=value
  breaks="\${COMP_WORDBREAKS//[^:=]/}"
  if [[ -n $breaks && $cur == *["$breaks"]* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${cur%"\${cur##*["$breaks"]}"}"}")
  fi
}
complete -F _podwright "podwright"
`,
  zsh: `#compdef podwright
# Completion for zsh: source <(podwright completion zsh), or as the file _podwright in $fpath
_podwright() {
  local line word about suffix=' ' program=\${words[1]/#\\~/$HOME}
  local -a found
  for line in "\${(@f)$("$program" __complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    word=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    case $word in
      '') ;;
      :nospace) suffix='' ;;
      :files) _files ;;
      :directories) _files -/ ;;
      *) found+=("\${word//:/\\\\:}:$about") ;;
    esac
  done
  (( $#found )) && _describe command found -S "$suffix"
}
if [[ \${funcstack[1]} == _podwright ]]; then _podwright "$@"; else compdef _podwright podwright; fi
`,
  fish: `# Completion for fish: podwright completion fish | source
function __podwright_complete
    set -l tokens (commandline -opc)
    for line in ($tokens[1] __complete -- $tokens[2..] (commandline -ct) 2> /dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :directories
                __fish_complete_directories (commandline -ct)
            case :nospace
            case '*'
                echo $line
        end
    end
end
complete -c podwright -f -a '(__podwright_complete)'
`,
} as const;
