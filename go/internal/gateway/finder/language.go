package finder

import "strings"

// silent are words that say nothing about a function, without their endings.
var silent = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`a an and any are as at be by can do does for from have how i in is it me my of on or
		please should some that the their then there these this to want what when where which who will with you your`) {
		set[stem(word)] = true
	}
	return set
}()

// synonyms are verbs that APIs use for one thing, without their endings.
var synonyms = func() map[string][]string {
	all := map[string][]string{}
	for _, group := range []string{
		"get fetch read retrieve show view", "list enumerate", "create add make new insert", "delete remove erase destroy",
		"update edit modify change patch", "search find query lookup", "send post submit", "write save store", "run execute",
		"folder directory", "picture image photo", "mail email", "repo repository", "member account",
		"message chat", "ticket issue", "rename move", "open create",
	} {
		list := strings.Fields(group)
		for i := range list {
			list[i] = stem(list[i])
		}
		for i, word := range list {
			for k, other := range list {
				if i != k {
					all[word] = append(all[word], other)
				}
			}
		}
	}
	all["pr"] = []string{stem("pull"), stem("request")}
	for _, word := range []string{"my", "me", "i"} {
		all[word] = []string{stem("authenticated")}
	}
	return all
}()
