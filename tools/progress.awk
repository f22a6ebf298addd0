# What pip says, as one line that counts: awk -v total=130 -v terminal=1 -f tools/progress.awk
# Away from a terminal it writes a line for each twenty packages. From an error on it shows all.
/^(Collecting|Processing|Requirement already satisfied:) / {
    n++
    name = $1 == "Requirement" ? $4 : $2
    sub(/.*\//, "", name)
    sub(/[=;].*|-[0-9].*/, "", name)
    if (terminal) printf "\r\033[K  %d of %d: %s", n, total, name
    else if (n % 20 == 0) printf "  %d of %d: %s\n", n, total, name
    fflush()
}
/^Installing collected packages/ {
    printf "%s  all %d are here; writing them into the environment\n", terminal ? "\r\033[K" : "", n
    fflush()
}
/^ERROR/ { failed = 1; if (terminal) print "" }
failed { print; fflush() }
