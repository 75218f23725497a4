package luautype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/checktest"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// The real checker takes the definitions, and scripts of both dialects are right or wrong by them.
func TestDefinitionsAreChecked(t *testing.T) {
	c := catalog.New(nil, []*catalog.Source{petstore(t), server(t)})
	definitions := typecheck.NewDefinitions(Definitions(c, DefinitionOptions{Globals: []Member{{"result", "(value: any?) -> ()"}}}))
	checker := checktest.New(t)
	for script, want := range map[string]string{
		`local pet = sdk.petstore.create_pet({ name = "Rex", tag = { id = 1, name = "dog" } })
		 return pet.owner and pet.owner.email`: "",
		`for _, pet in sdk.petstore.list_pets{ limit = 3, status = "sold", ["x-trace"] = "1" } do print(pet.id, pet.name) end`: "",
		`return sdk["my.srv"]["get-user"]({ id = "1" }), sdk.my_srv.clear(), sdk.create_pet({ name = "x" })`:                   "",
		`local user = my_srv.get_user({ id = "1" }):await() result(user.anything)`:                                             "",
		`sdk.my_srv.send{ list = { { role = "user" }, { role = "system" } }, labels = { "a" }, more = { { role = "user" } } }`: "",

		`return sdk.petstore.create_pet({ nmae = "Rex" })`:                            "sdk.petstore.create_pet: field 'nmae' does not exist, did you mean 'name'?",
		`return sdk.petstore.create_pet({ name = "x", tag = { id = 1 } })`:            "sdk.petstore.create_pet: field 'tag.name' is missing",
		`return sdk.petstore.list_pets{ limt = 3 }`:                                   "sdk.petstore.list_pets: field 'limt' does not exist, did you mean 'limit'?",
		`return sdk.petstore.list_pets{ status = "sild" }`:                            "did you mean \"sold\"?",
		`return sdk.petstore.create_pets({ name = "x" })`:                             "sdk.petstore: function 'create_pets' does not exist, did you mean 'create_pet'?",
		`return sdk.petstore.list_pets()[1].nam`:                                      "field 'nam' does not exist, did you mean 'name'?",
		`return sdk["my.srv"]["get-usr"]({ id = "1" })`:                               "function 'get-usr' does not exist, did you mean 'get-user'?",
		`return my_srv.get_user({ idd = "1" }):await()`:                               "my_srv.get_user: field 'idd' does not exist",
		`return my_srv.get_user({ id = "1" }):awiat()`:                                "function 'awiat' does not exist, did you mean 'await'?",
		`return sdk.petstore.update({ id = 1 })`:                                      "",
		`return sdk.petstore.update({ id = 1 }, { name = "x" }, 3)`:                   "sdk.petstore.update takes 1 to 2 arguments, got 3",
		`local result = sdk.petstore.list_pets{} result(result)`:                      "the local result of line 1 hides the function",
		`return sdk.petsore.list_pets{}`:                                              "sdk: field 'petsore' does not exist, did you mean 'petstore'?",
		`sdk.my_srv.send{ list = { { rol = "user" } } }`:                              "sdk.my_srv.send: field 'list[].rol' does not exist, did you mean 'role'?",
		`return sdk.my_srv.get_user()`:                                                "sdk.my_srv.get_user: field 'id' is missing",
		`return sdk.petstore.create_pet({ name = "x" }).owner.email`:                  "may be nil",
		`local pets = sdk.petstore.list_pets{} for i = 1, #pets do pets[i].age() end`: "function 'age' does not exist",
	} {
		findings, err := checker.Check(t.Context(), typecheck.Request{Source: script, Definitions: definitions})
		require.NoError(t, err)
		var said []string
		for _, f := range findings {
			said = append(said, f.Text())
		}
		if want == "" {
			require.Empty(t, said, script)
			continue
		}
		require.Len(t, said, 1, script)
		require.True(t, strings.Contains(said[0], want), "%s: %s", script, said[0])
	}
}
